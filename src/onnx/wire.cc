#include "onnx/wire.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

static_assert(std::endian::native == std::endian::little, "fixed fields are copied as they lie");

constexpr int kEndGroup = 4;

// Decodes at `at` and advances it; false when the bytes end or the number is longer than 10 bytes.
bool decode_varint(std::span<const std::byte> bytes, size_t& at, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (at >= bytes.size()) return false;
    const auto byte = static_cast<uint64_t>(bytes[at++]);
    if (shift < 64) value |= (byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

const char* describe(WireType type) {
  switch (type) {
    case WireType::kVarint:
      return "a varint";
    case WireType::kFixed64:
      return "8 bytes";
    case WireType::kBytes:
      return "length-delimited";
    case WireType::kGroup:
      return "a group";
    case WireType::kFixed32:
      return "4 bytes";
  }
  return "unknown";
}

}  // namespace

void WireCursor::fail(const std::string& message) const {
  throw Error(ErrorCode::kInvalidProtobuf,
              fmt::format("{} at byte {}: {}; the file is damaged, cut off or no ONNX model",
                          message_, offset_ + start_, message));
}

uint64_t WireCursor::read_varint(const char* what) {
  uint64_t value;
  if (!decode_varint(bytes_, at_, value)) {
    fail(at_ >= bytes_.size() ? fmt::format("the bytes end within {}", what)
                              : fmt::format("{} is longer than 10 bytes", what));
  }
  return value;
}

void WireCursor::take(uint64_t count, const char* what) {
  const uint64_t left = bytes_.size() - at_;
  if (count > left) {
    fail(fmt::format("field {} ({}) claims {} bytes, {} are left", field_, what, count, left));
  }
  at_ += static_cast<size_t>(count);
}

bool WireCursor::next() {
  start_ = at_;
  if (at_ >= bytes_.size()) return false;
  const uint64_t tag = read_varint("a field tag");
  const auto type = static_cast<int>(tag & 7);
  if (tag >> 32 != 0 || tag >> 3 == 0) fail(fmt::format("{} is no field tag", tag));
  field_ = static_cast<uint32_t>(tag >> 3);
  payload_ = at_;
  switch (type) {
    case 0:
      value_ = read_varint("a varint");
      break;
    case 1:
      take(8, "8 bytes");
      break;
    case 2: {
      const uint64_t length = read_varint("a length");
      payload_ = at_;
      take(length, "length-delimited");
      break;
    }
    case 3:
      skip_group();
      break;
    case 5:
      take(4, "4 bytes");
      break;
    default:
      fail(fmt::format("field {} has the wire type {}", field_, type));
  }
  type_ = static_cast<WireType>(type);
  return true;
}

// Groups are obsolete; they are skipped to the matching end without recursion.
void WireCursor::skip_group() {
  std::vector<uint64_t> open{field_};
  while (!open.empty()) {
    if (at_ >= bytes_.size()) fail("the bytes end within a group");
    const uint64_t tag = read_varint("a field tag");
    const uint64_t number = tag >> 3;
    switch (static_cast<int>(tag & 7)) {
      case 0:
        read_varint("a varint");
        break;
      case 1:
        take(8, "8 bytes");
        break;
      case 2:
        take(read_varint("a length"), "length-delimited");
        break;
      case 3:
        if (open.size() >= kMaxWireDepth) {
          fail(fmt::format("groups are nested deeper than {} levels", kMaxWireDepth));
        }
        open.push_back(number);
        break;
      case kEndGroup:
        if (number != open.back()) fail(fmt::format("group {} ends as {}", open.back(), number));
        open.pop_back();
        break;
      case 5:
        take(4, "4 bytes");
        break;
      default:
        fail(fmt::format("field {} has the wire type {}", number, tag & 7));
    }
  }
}

void WireCursor::expect(WireType type) const {
  if (type_ != type) {
    fail(fmt::format("field {} is {}, expected {}", field_, describe(type_), describe(type)));
  }
}

uint64_t WireCursor::varint() const {
  expect(WireType::kVarint);
  return value_;
}

float WireCursor::float32() const {
  expect(WireType::kFixed32);
  float value;
  std::memcpy(&value, bytes_.data() + payload_, 4);
  return value;
}

double WireCursor::float64() const {
  expect(WireType::kFixed64);
  double value;
  std::memcpy(&value, bytes_.data() + payload_, 8);
  return value;
}

std::span<const std::byte> WireCursor::bytes() const {
  expect(WireType::kBytes);
  return bytes_.subspan(payload_, at_ - payload_);
}

std::string_view WireCursor::text() const {
  const auto span = bytes();
  return {reinterpret_cast<const char*>(span.data()), span.size()};
}

WireCursor WireCursor::message(const char* name) const {
  WireCursor inner(bytes(), name, offset_ + payload_);
  inner.depth_ = depth_ + 1;
  if (inner.depth_ > kMaxWireDepth) {
    fail(fmt::format("messages are nested deeper than {} levels", kMaxWireDepth));
  }
  return inner;
}

template <typename T, typename F>
void WireCursor::append_varints(std::vector<T>& values, F&& convert) const {
  if (type_ == WireType::kVarint) {
    values.push_back(convert(value_));
    return;
  }
  const auto packed = bytes();
  size_t count = 0;  // the last byte of each number has no top bit
  for (std::byte byte : packed) count += (byte & std::byte{0x80}) == std::byte{0};
  values.reserve(values.size() + count);
  for (size_t at = 0; at < packed.size();) {
    uint64_t value;
    if (!decode_varint(packed, at, value)) {
      fail(fmt::format("field {} ends within a number or holds one longer than 10 bytes", field_));
    }
    values.push_back(convert(value));
  }
}

template <typename T>
void WireCursor::append_fixed(std::vector<T>& values, WireType type) const {
  if (type_ == type) {
    T value;
    std::memcpy(&value, bytes_.data() + payload_, sizeof(T));
    values.push_back(value);
    return;
  }
  const auto packed = bytes();
  if (packed.size() % sizeof(T) != 0) {
    fail(fmt::format("field {} holds {} bytes, no multiple of {}", field_, packed.size(),
                     sizeof(T)));
  }
  if (packed.empty()) return;
  const size_t before = values.size();
  values.resize(before + packed.size() / sizeof(T));
  std::memcpy(values.data() + before, packed.data(), packed.size());
}

void WireCursor::append_to(std::vector<int64_t>& values) const {
  append_varints(values, [](uint64_t value) { return static_cast<int64_t>(value); });
}
void WireCursor::append_to(std::vector<uint64_t>& values) const {
  append_varints(values, [](uint64_t value) { return value; });
}
void WireCursor::append_to(std::vector<int32_t>& values) const {
  append_varints(values, [](uint64_t value) { return static_cast<int32_t>(value); });
}
void WireCursor::append_to(std::vector<float>& values) const {
  append_fixed(values, WireType::kFixed32);
}
void WireCursor::append_to(std::vector<double>& values) const {
  append_fixed(values, WireType::kFixed64);
}

void WireWriter::put_varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<std::byte>(value | 0x80));
  out_.push_back(static_cast<std::byte>(value));
}

void WireWriter::tag(uint32_t field, WireType type) {
  put_varint(uint64_t{field} << 3 | static_cast<uint64_t>(type));
}

void WireWriter::varint(uint32_t field, uint64_t value) {
  tag(field, WireType::kVarint);
  put_varint(value);
}

void WireWriter::fixed32(uint32_t field, uint32_t value) {
  tag(field, WireType::kFixed32);
  put(std::as_bytes(std::span(&value, 1)));
}

void WireWriter::fixed64(uint32_t field, uint64_t value) {
  tag(field, WireType::kFixed64);
  put(std::as_bytes(std::span(&value, 1)));
}

void WireWriter::begin_bytes(uint32_t field, uint64_t size) {
  tag(field, WireType::kBytes);
  put_varint(size);
}

void WireWriter::bytes(uint32_t field, std::span<const std::byte> value) {
  begin_bytes(field, value.size());
  put(value);
}

void WireWriter::text(uint32_t field, std::string_view value) {
  bytes(field, std::as_bytes(std::span(value)));
}

}  // namespace sardonyx
