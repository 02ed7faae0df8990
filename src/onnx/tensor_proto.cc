#include "onnx/tensor_proto.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/mapped_file.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

enum Field : uint32_t {
  kDims = 1,
  kDataType = 2,
  kSegment = 3,
  kFloatData = 4,
  kInt32Data = 5,
  kStringData = 6,
  kInt64Data = 7,
  kName = 8,
  kRawData = 9,
  kDoubleData = 10,
  kUint64Data = 11,
  kExternalData = 13,
  kDataLocation = 14,
};

// The fields as they stand in the file.
struct Parts {
  std::string name;
  std::vector<int64_t> dims;
  int32_t data_type = 0;
  int32_t location = 0;
  std::span<const std::byte> raw;
  std::vector<float> floats;
  std::vector<int32_t> int32s;
  std::vector<std::string_view> strings;
  std::vector<int64_t> int64s;
  std::vector<double> doubles;
  std::vector<uint64_t> uint64s;
  ExternalData::Entries external;
  std::vector<std::byte> other_fields;
};

[[noreturn]] void reject(const std::string& message) {
  throw Error(ErrorCode::kInvalidGraph, message);
}

std::pair<std::string, std::string> read_entry(WireCursor entry) {
  std::pair<std::string, std::string> result;
  while (entry.next()) {
    if (entry.field() == 1) result.first = entry.string();
    if (entry.field() == 2) result.second = entry.string();
  }
  return result;
}

void read_parts(WireCursor& cursor, Parts& parts) {
  bool segment = false;
  while (cursor.next()) {
    switch (cursor.field()) {
      case kDims:
        cursor.append_to(parts.dims);
        break;
      case kDataType:
        parts.data_type = cursor.int32();
        break;
      case kSegment:
        segment = true;
        break;
      case kFloatData:
        cursor.append_to(parts.floats);
        break;
      case kInt32Data:
        cursor.append_to(parts.int32s);
        break;
      case kStringData:
        parts.strings.push_back(cursor.text());
        break;
      case kInt64Data:
        cursor.append_to(parts.int64s);
        break;
      case kName:
        parts.name = cursor.string();
        break;
      case kRawData:
        parts.raw = cursor.bytes();
        break;
      case kDoubleData:
        cursor.append_to(parts.doubles);
        break;
      case kUint64Data:
        cursor.append_to(parts.uint64s);
        break;
      case kExternalData:
        parts.external.push_back(read_entry(cursor.message("StringStringEntryProto")));
        break;
      case kDataLocation:
        parts.location = cursor.int32();
        break;
      default:
        cursor.append_raw_to(parts.other_fields);
        break;
    }
  }
  if (segment) reject("it is cut into segments, which no tool writes; not supported");
}

// The names of the fields that hold data.
std::vector<const char*> held_fields(const Parts& parts) {
  std::vector<const char*> held;
  if (!parts.raw.empty()) held.push_back("raw_data");
  if (!parts.floats.empty()) held.push_back("float_data");
  if (!parts.int32s.empty()) held.push_back("int32_data");
  if (!parts.strings.empty()) held.push_back("string_data");
  if (!parts.int64s.empty()) held.push_back("int64_data");
  if (!parts.doubles.empty()) held.push_back("double_data");
  if (!parts.uint64s.empty()) held.push_back("uint64_data");
  return held;
}

const char* typed_field(DataType type) {
  switch (type) {
    case DataType::kFloat:
    case DataType::kComplex64:
      return "float_data";
    case DataType::kDouble:
    case DataType::kComplex128:
      return "double_data";
    case DataType::kInt64:
      return "int64_data";
    case DataType::kUint32:
    case DataType::kUint64:
      return "uint64_data";
    case DataType::kString:
      return "string_data";
    default:
      return "int32_data";
  }
}

size_t alignment_of(DataType type) {
  return std::clamp<size_t>(static_cast<size_t>(bits_of(type)) / 8, 1, 8);
}

Tensor from_bytes(DataType type, const Shape& shape, const SharedBytes& source) {
  const auto address = reinterpret_cast<uintptr_t>(source.bytes.data());
  const auto* first = reinterpret_cast<const uint8_t*>(source.bytes.data());
  // A bool other than 0 and 1 would be undefined behaviour in a kernel.
  const bool odd_bools =
      type == DataType::kBool &&
      std::any_of(first, first + source.bytes.size(), [](uint8_t byte) { return byte > 1; });
  if (source.owner && address % alignment_of(type) == 0 && !odd_bools) {
    return Tensor::view(type, shape, static_cast<const void*>(first), source.owner);
  }
  Tensor tensor = Tensor::allocate(type, shape);
  std::memcpy(tensor.raw(), first, source.bytes.size());
  if (odd_bools) {
    auto* bools = tensor.data<uint8_t>();
    std::transform(bools, bools + tensor.size(), bools, [](uint8_t byte) { return byte != 0; });
  }
  return tensor;
}

void expect_count(const char* field, size_t found, int64_t expected) {
  if (static_cast<int64_t>(found) != expected) {
    reject(fmt::format("{} holds {} numbers, expected {}", field, found, expected));
  }
}

template <typename T>
Tensor from_same(DataType type, const Shape& shape, const std::vector<T>& values) {
  Tensor tensor = Tensor::allocate(type, shape);
  std::memcpy(tensor.raw(), values.data(), values.size() * sizeof(T));
  return tensor;
}

// The low bits of each number; it must fit them as a signed or an unsigned one.
template <typename T, typename From>
Tensor narrow(DataType type, const Shape& shape, const std::vector<From>& values) {
  constexpr int kBits = static_cast<int>(sizeof(T)) * 8;
  constexpr int64_t kLowest = std::is_signed_v<From> ? -(int64_t{1} << (kBits - 1)) : 0;
  constexpr int64_t kHighest = (int64_t{1} << kBits) - 1;
  Tensor tensor = Tensor::allocate(type, shape);
  T* to = tensor.data<T>();
  for (From value : values) {
    if ((std::is_signed_v<From> && static_cast<int64_t>(value) < kLowest) ||
        (value > 0 && static_cast<uint64_t>(value) > static_cast<uint64_t>(kHighest))) {
      reject(fmt::format("{} {} does not fit {} bits", typed_field(type), value, kBits));
    }
    *to++ = static_cast<T>(value);
  }
  return tensor;
}

// 4- and 2-bit types: one packed byte in each int32, or four packed bytes in each.
Tensor from_packed(DataType type, const Shape& shape, const std::vector<int32_t>& values) {
  const auto bytes = static_cast<size_t>(*storage_bytes(type, element_count(shape)));
  const bool one_each = values.size() == bytes;
  if (!one_each && values.size() != (bytes + 3) / 4) {
    reject(fmt::format("int32_data holds {} numbers, expected {} (one byte each) or {} (four)",
                       values.size(), bytes, (bytes + 3) / 4));
  }
  Tensor tensor = Tensor::allocate(type, shape);
  auto* to = tensor.data<uint8_t>();
  if (!one_each) {
    std::memcpy(to, values.data(), bytes);
    return tensor;
  }
  for (int32_t value : values) {
    if (value < -128 || value > 255) {
      reject(fmt::format("int32_data {} is no packed byte of {}", value, name_of(type)));
    }
    *to++ = static_cast<uint8_t>(value);
  }
  return tensor;
}

Tensor from_int32s(DataType type, const Shape& shape, const std::vector<int32_t>& values) {
  if (is_sub_byte(type)) return from_packed(type, shape, values);
  expect_count("int32_data", values.size(), element_count(shape));
  if (type == DataType::kInt32) return from_same(type, shape, values);
  if (type == DataType::kBool) {
    Tensor tensor = Tensor::allocate(type, shape);
    std::transform(values.begin(), values.end(), tensor.data<uint8_t>(),
                   [](int32_t value) { return value != 0; });
    return tensor;
  }
  return bits_of(type) == 8 ? narrow<uint8_t>(type, shape, values)
                            : narrow<uint16_t>(type, shape, values);
}

Tensor from_typed_field(DataType type, const Shape& shape, int64_t count, const Parts& parts) {
  switch (type) {
    case DataType::kFloat:
    case DataType::kComplex64:
      expect_count("float_data", parts.floats.size(), type == DataType::kFloat ? count : 2 * count);
      return from_same(type, shape, parts.floats);
    case DataType::kDouble:
    case DataType::kComplex128:
      expect_count("double_data", parts.doubles.size(),
                   type == DataType::kDouble ? count : 2 * count);
      return from_same(type, shape, parts.doubles);
    case DataType::kInt64:
      expect_count("int64_data", parts.int64s.size(), count);
      return from_same(type, shape, parts.int64s);
    case DataType::kUint64:
      expect_count("uint64_data", parts.uint64s.size(), count);
      return from_same(type, shape, parts.uint64s);
    case DataType::kUint32:
      expect_count("uint64_data", parts.uint64s.size(), count);
      return narrow<uint32_t>(type, shape, parts.uint64s);
    case DataType::kString: {
      expect_count("string_data", parts.strings.size(), count);
      Tensor tensor = Tensor::allocate(type, shape);
      std::copy(parts.strings.begin(), parts.strings.end(), tensor.data<std::string>());
      return tensor;
    }
    default:
      return from_int32s(type, shape, parts.int32s);
  }
}

Tensor to_tensor(const Parts& parts, const TensorSource& source) {
  if (!is_data_type(parts.data_type)) {
    reject(
        fmt::format("its data type is {}, known are 1 to {}", parts.data_type, kDataTypeCount - 1));
  }
  const auto type = static_cast<DataType>(parts.data_type);
  const Shape shape{std::span<const int64_t>(parts.dims)};
  const auto count = checked_element_count(shape);
  const auto bytes = count ? storage_bytes(type, *count) : std::nullopt;
  if (!bytes) {
    reject(fmt::format("its shape {} has a negative dimension or more bytes than can be counted",
                       to_string(shape)));
  }
  const std::vector<const char*> held = held_fields(parts);
  if (parts.location != 0 && parts.location != 1) {
    reject(fmt::format("its data location is {}, known are 0 (here) and 1 (external)",
                       parts.location));
  }
  const bool external = parts.location == 1;
  if (held.size() + (external ? 1 : 0) > 1) {
    reject(fmt::format("it has data in {} and in {}", held[0], external ? "a file" : held[1]));
  }
  if (external) {
    if (type == DataType::kString) reject("strings cannot be stored as external data");
    if (source.external == nullptr) reject("external data is not allowed here");
    const SharedBytes found = source.external->find(parts.external, static_cast<size_t>(*bytes));
    return *count == 0 ? Tensor::allocate(type, shape) : from_bytes(type, shape, found);
  }
  if (*count == 0) {
    if (!held.empty()) reject(fmt::format("it has no elements, but data in {}", held[0]));
    return Tensor::allocate(type, shape);
  }
  if (held.empty()) {
    reject(fmt::format("it has {} elements of {} but no data", *count, name_of(type)));
  }
  const std::string_view field = held[0];
  if (field == "raw_data") {
    if (type == DataType::kString) reject("strings cannot be stored in raw_data");
    if (parts.raw.size() < static_cast<size_t>(*bytes)) {
      reject(fmt::format("raw_data holds {} bytes, {}{} takes {}", parts.raw.size(), name_of(type),
                         to_string(shape), *bytes));
    }
    return from_bytes(type, shape, {parts.raw.first(static_cast<size_t>(*bytes)), source.owner});
  }
  if (field != typed_field(type)) {
    reject(fmt::format("its type {} is stored in raw_data or {}, found {}", name_of(type),
                       typed_field(type), field));
  }
  return from_typed_field(type, shape, *count, parts);
}

}  // namespace

NamedTensor read_tensor(WireCursor cursor, const TensorSource& source) {
  Parts parts;
  try {
    read_parts(cursor, parts);
    Tensor tensor = to_tensor(parts, source);
    return {std::move(parts.name), std::move(tensor), std::move(parts.other_fields)};
  } catch (const Error& error) {
    throw error.with_context(fmt::format("tensor '{}'", parts.name));
  }
}

NamedSparseTensor read_sparse_tensor(WireCursor cursor, const TensorSource& source) {
  NamedSparseTensor result;
  SparseTensor& sparse = result.tensor;
  std::vector<int64_t> dims;
  while (cursor.next()) {
    if (cursor.field() == 1) {
      NamedTensor values = read_tensor(cursor.message("TensorProto"), source);
      result.name = std::move(values.name);
      sparse.values = std::move(values.tensor);
    } else if (cursor.field() == 2) {
      sparse.indices = read_tensor(cursor.message("TensorProto"), source).tensor;
    } else if (cursor.field() == 3) {
      cursor.append_to(dims);
    }
  }
  sparse.shape = Shape{std::span<const int64_t>(dims)};
  const auto fail = [&](const std::string& message) {
    reject(fmt::format("sparse tensor '{}': {}", result.name, message));
  };
  if (!sparse.values.is_defined() || sparse.values.shape().size() != 1) {
    fail("its values must be a tensor of one dimension");
  }
  const int64_t count = sparse.values.size();
  const auto elements = checked_element_count(sparse.shape);
  if (dims.empty() || !elements || !storage_bytes(sparse.values.type(), *elements)) {
    fail(fmt::format("its shape {} is no valid size", to_string(sparse.shape)));
  }
  if (!sparse.indices.is_defined()) {
    if (count != 0) fail(fmt::format("it has {} values and no indices", count));
    sparse.indices = Tensor::allocate(DataType::kInt64, Shape{0});
  }
  const Shape& indices = sparse.indices.shape();
  const bool linear = indices.size() == 1 && indices[0] == count;
  const bool full =
      indices.size() == 2 && indices[0] == count && indices[1] == static_cast<int64_t>(dims.size());
  if (sparse.indices.type() != DataType::kInt64 || (!linear && !full)) {
    fail(fmt::format("its indices are {}{}, expected int64[{}] or int64[{},{}]",
                     name_of(sparse.indices.type()), to_string(indices), count, count,
                     dims.size()));
  }
  return result;
}

NamedTensor read_tensor_file(const std::string& path) {
  const auto file = MappedFile::open(path);
  try {
    ExternalData external = ExternalData::beside_model(path);
    return read_tensor(WireCursor(file->bytes(), "TensorProto"), {file, &external});
  } catch (const Error& error) {
    throw error.with_context(path);
  }
}

}  // namespace sardonyx
