#include "artifact/byte_reader.h"

#include <fmt/format.h>

#include "sardonyx/error.h"

namespace sardonyx::artifact {

void ByteReader::fail(std::string_view what) const {
  throw Error(ErrorCode::kFail,
              fmt::format("compiled model is damaged: section {}, byte {}: {}; compile the model "
                          "again",
                          section_, offset_, what));
}

std::span<const std::byte> ByteReader::take(uint64_t size) {
  if (size > left()) fail(fmt::format("{} bytes are expected, {} are left", size, left()));
  const auto result = bytes_.subspan(offset_, static_cast<size_t>(size));
  offset_ += static_cast<size_t>(size);
  return result;
}

uint8_t ByteReader::below(unsigned limit, const char* what) {
  const auto value = get<uint8_t>();
  if (value >= limit) fail(fmt::format("{} is {}, expected less than {}", what, value, limit));
  return value;
}

uint32_t ByteReader::count(size_t entry_bytes) {
  const auto value = get<uint32_t>();
  if (value > left() / entry_bytes) {
    fail(fmt::format("a list of {} entries does not fit into {} bytes", value, left()));
  }
  return value;
}

uint32_t ByteReader::index(size_t limit, const char* what) {
  const auto value = get<uint32_t>();
  if (value >= limit) fail(fmt::format("{} {} does not exist, there are {}", what, value, limit));
  return value;
}

std::string_view ByteReader::text() {
  const auto bytes = take(get<uint32_t>());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string_view ByteReader::name() {
  const auto bytes = take(get<uint8_t>());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void ByteReader::align(size_t to) { take((to - offset_ % to) % to); }

void ByteReader::expect_end() const {
  if (left() != 0) fail(fmt::format("{} bytes too many", left()));
}

}  // namespace sardonyx::artifact
