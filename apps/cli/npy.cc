#include "npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <sstream>

#include "base/staged_file.h"
#include "input_file.h"
#include "npy_header.h"
#include "utf8.h"

namespace sardonyx::cli {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMaxHeaderBytes = 1 << 16;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

void read_exactly(std::istream& in, char* out, size_t count) {
  in.read(out, static_cast<std::streamsize>(count));
  if (static_cast<size_t>(in.gcount()) != count) refuse("the .npy file ends too early");
}

// Returns the header's text; adds what was consumed to `used`.
std::string read_header_text(std::istream& in, uint64_t& used) {
  char start[8];
  read_exactly(in, start, sizeof start);
  if (std::memcmp(start, kMagic, 6) != 0) refuse("not a .npy file: the first bytes differ");
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3) {
    refuse(fmt::format(".npy version {} is not known, 1 to 3 are", version));
  }
  const size_t width = version == 1 ? 2 : 4;
  unsigned char length_bytes[4] = {};
  read_exactly(in, reinterpret_cast<char*>(length_bytes), width);
  size_t length = 0;
  for (size_t i = 0; i < width; ++i) length |= size_t{length_bytes[i]} << (8 * i);
  if (length > kMaxHeaderBytes) {
    refuse(fmt::format("the .npy header has {} bytes, more than {}", length, kMaxHeaderBytes));
  }
  std::string text(length, '\0');
  read_exactly(in, text.data(), length);
  used += sizeof start + width + length;
  return text;
}

// The product of a shape, or nothing when it does not fit.
uint64_t count_elements(const std::vector<int64_t>& shape) {
  uint64_t count = 1;
  for (const int64_t dim : shape) {
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(dim), &count)) {
      refuse("the shape in the .npy header is too large");
    }
  }
  return count;
}

// Fortran order: the first dimension varies fastest. target: C order, items of item_bytes.
void reorder_from_fortran(const char* source, const std::vector<int64_t>& shape, size_t item_bytes,
                          char* target) {
  const uint64_t count = count_elements(shape);
  std::vector<uint64_t> strides(shape.size());
  uint64_t stride = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    strides[d] = stride;
    stride *= static_cast<uint64_t>(shape[d]);
  }
  std::vector<int64_t> index(shape.size(), 0);
  uint64_t offset = 0;
  for (uint64_t i = 0; i < count; ++i) {
    std::memcpy(target + i * item_bytes, source + offset * item_bytes, item_bytes);
    for (size_t d = shape.size(); d-- > 0;) {
      offset += strides[d];
      if (++index[d] < shape[d]) break;
      offset -= strides[d] * static_cast<uint64_t>(shape[d]);
      index[d] = 0;
    }
  }
}

std::string item_text(const char* item, const NpyType& type) {
  if (type.text == NpyType::Text::kBytes) {
    std::string text(item, type.item_bytes);
    text.erase(text.find_last_not_of('\0') + 1);
    return text;
  }
  std::vector<uint32_t> codes(type.item_bytes / 4);
  if (!codes.empty()) std::memcpy(codes.data(), item, type.item_bytes);
  while (!codes.empty() && codes.back() == 0) codes.pop_back();
  return encode_utf8(codes);
}

// Any byte but 0 means true; kernels rely on 0 and 1.
void normalise_bools(void* items, size_t count) {
  auto* bytes = static_cast<unsigned char*>(items);
  for (size_t i = 0; i < count; ++i) bytes[i] = bytes[i] != 0;
}

Value make_strings(const std::string& items, const std::vector<int64_t>& shape,
                   const NpyType& type) {
  Value value = Value::tensor(ElementType::kString, shape);
  const std::span<std::string> out = value.as<std::string>();
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = item_text(items.data() + i * type.item_bytes, type);
  }
  return value;
}

ElementType type_of_raw(size_t item_bytes, ElementType raw_type) {
  const std::string wanted = npy_descriptor(raw_type);
  if (wanted.size() == 3 && wanted[1] == 'V' && size_t(wanted[2] - '0') == item_bytes) {
    return raw_type;
  }
  refuse(fmt::format("the .npy file holds raw items of {} bytes (V{}), which is no {}", item_bytes,
                     item_bytes, to_string(raw_type)));
}

}  // namespace

Value read_npy(std::istream& in, uint64_t size_bytes, ElementType raw_type) {
  uint64_t used = 0;
  const NpyHeader header = parse_npy_header(read_header_text(in, used));
  NpyType type = parse_npy_descriptor(header.descriptor);
  if (type.type == ElementType::kUndefined) type.type = type_of_raw(type.item_bytes, raw_type);
  const uint64_t count = count_elements(header.shape);
  uint64_t needed = 0;
  if (__builtin_mul_overflow(count, uint64_t{type.item_bytes}, &needed) ||
      needed > size_bytes - used) {
    refuse(fmt::format("the .npy file announces shape ({}) of '{}', {} elements; it has {} bytes",
                       fmt::join(header.shape, ", "), header.descriptor, count, size_bytes - used));
  }
  // Empty strings take no bytes in the file but some in memory.
  if (type.item_bytes == 0 && count > (1u << 20)) refuse("too many empty strings");
  const bool is_text = type.text != NpyType::Text::kNone;
  if (!is_text && !header.fortran_order) {
    Value value = Value::tensor(type.type, header.shape);
    if (needed > 0) read_exactly(in, static_cast<char*>(value.data()), needed);
    if (type.type == ElementType::kBool) normalise_bools(value.data(), count);
    return value;
  }
  std::string items(needed, '\0');
  read_exactly(in, items.data(), needed);
  if (header.fortran_order) {
    std::string ordered(needed, '\0');
    if (type.item_bytes > 0) {
      reorder_from_fortran(items.data(), header.shape, type.item_bytes, ordered.data());
    }
    items.swap(ordered);
  }
  if (is_text) return make_strings(items, header.shape, type);
  Value value = Value::tensor(type.type, header.shape);
  if (needed > 0) std::memcpy(value.data(), items.data(), needed);
  if (type.type == ElementType::kBool) normalise_bools(value.data(), count);
  return value;
}

Value read_npy(const std::filesystem::path& path, ElementType raw_type) {
  InputFile in(path);
  try {
    return read_npy(in, in.size(), raw_type);
  } catch (const Error& problem) {
    throw problem.with_context(path.string());
  }
}

bool has_npy_type(ElementType type) {
  return type == ElementType::kString || !npy_descriptor(type).empty();
}

void write_npy(std::ostream& out, const Value& value) {
  const std::vector<int64_t> shape(value.shape().begin(), value.shape().end());
  if (value.element_type() == ElementType::kString) {
    const std::span<const std::string> texts = value.as<std::string>();
    std::vector<std::vector<uint32_t>> items;
    size_t longest = 1;
    for (const std::string& text : texts) {
      items.push_back(decode_utf8(text));
      longest = std::max(longest, items.back().size());
    }
    out << make_npy_header(fmt::format("<U{}", longest), shape);
    for (std::vector<uint32_t>& codes : items) {
      codes.resize(longest, 0);
      out.write(reinterpret_cast<const char*>(codes.data()),
                static_cast<std::streamsize>(longest * 4));
    }
    return;
  }
  const std::string descriptor = npy_descriptor(value.element_type());
  if (descriptor.empty()) {
    refuse(fmt::format("NumPy has no type for {}", to_string(value.element_type())));
  }
  out << make_npy_header(descriptor, shape);
  out.write(static_cast<const char*>(value.data()),
            static_cast<std::streamsize>(value.size_bytes()));
}

void write_npy(const std::filesystem::path& path, const Value& value) {
  std::ostringstream out;
  write_npy(out, value);
  write_file(path.string(), std::as_bytes(std::span(out.view())));
}

}  // namespace sardonyx::cli
