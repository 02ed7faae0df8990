#include "tensor/data_type.h"

#include <string>

#include "tensor/tensor.h"

namespace sardonyx {
namespace {

enum class Kind : uint8_t { kOther, kInteger, kFloating };
struct Row {
  const char* name;
  int bits;
  Kind kind;
};
constexpr Row kRows[kDataTypeCount] = {
    {"undefined", 0, Kind::kOther},
    {"float", 32, Kind::kFloating},
    {"uint8", 8, Kind::kInteger},
    {"int8", 8, Kind::kInteger},
    {"uint16", 16, Kind::kInteger},
    {"int16", 16, Kind::kInteger},
    {"int32", 32, Kind::kInteger},
    {"int64", 64, Kind::kInteger},
    {"string", 0, Kind::kOther},
    {"bool", 8, Kind::kOther},
    {"float16", 16, Kind::kFloating},
    {"double", 64, Kind::kFloating},
    {"uint32", 32, Kind::kInteger},
    {"uint64", 64, Kind::kInteger},
    {"complex64", 64, Kind::kOther},
    {"complex128", 128, Kind::kOther},
    {"bfloat16", 16, Kind::kFloating},
    {"float8e4m3fn", 8, Kind::kFloating},
    {"float8e4m3fnuz", 8, Kind::kFloating},
    {"float8e5m2", 8, Kind::kFloating},
    {"float8e5m2fnuz", 8, Kind::kFloating},
    {"uint4", 4, Kind::kInteger},
    {"int4", 4, Kind::kInteger},
    {"float4e2m1", 4, Kind::kFloating},
    {"float8e8m0", 8, Kind::kFloating},
    {"uint2", 2, Kind::kInteger},
    {"int2", 2, Kind::kInteger},
};

const Row& row_of(DataType type) {
  const auto i = static_cast<int32_t>(type);
  return kRows[i >= 0 && i < kDataTypeCount ? i : 0];
}

}  // namespace

bool is_data_type(int64_t number) { return number > 0 && number < kDataTypeCount; }
int bits_of(DataType type) { return row_of(type).bits; }
const char* name_of(DataType type) {
  if (type == kSequenceType) return "sequence";
  if (type == kOptionalType) return "optional";
  return row_of(type).name;
}
const char* to_string(ElementType type) noexcept { return name_of(type); }
bool is_integer(DataType type) { return row_of(type).kind == Kind::kInteger; }
bool is_floating(DataType type) { return row_of(type).kind == Kind::kFloating; }

std::optional<int64_t> storage_bytes(DataType type, int64_t count) {
  if (count < 0) return std::nullopt;
  int64_t bits = bits_of(type);
  if (type == DataType::kString) bits = int64_t{8} * static_cast<int64_t>(sizeof(std::string));
  if (holds_values(type)) bits = int64_t{8} * static_cast<int64_t>(sizeof(Tensor));
  int64_t total_bits = 0;
  if (__builtin_mul_overflow(count, bits, &total_bits) || total_bits > INT64_MAX - 7) {
    return std::nullopt;
  }
  return (total_bits + 7) / 8;
}

std::optional<DataType> parse_data_type(std::string_view name) {
  for (int i = 1; i < kDataTypeCount; ++i) {
    if (name == kRows[i].name) return static_cast<DataType>(i);
  }
  return std::nullopt;
}

}  // namespace sardonyx
