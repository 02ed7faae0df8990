// The 26 element types of ONNX; numbers equal TensorProto.DataType. Facts only: names, widths,
// kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sardonyx {

enum class DataType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26,
};
inline constexpr int kDataTypeCount = 27;  // kUndefined included

// Is `number` one of the 26 (kUndefined is not)?
bool is_data_type(int64_t number);

// Width of one element in bits; 0 for kString (std::string objects) and kUndefined.
int bits_of(DataType type);

// Bytes that `count` elements take, 4-bit and 2-bit types packed (rounded up to a byte); kString
// counts sizeof(std::string). nullopt when the product overflows int64 or count is negative.
std::optional<int64_t> storage_bytes(DataType type, int64_t count);

// ONNX text names: "float", "int64", "float8e4m3fn", ...; "undefined" otherwise.
const char* name_of(DataType type);
std::optional<DataType> parse_data_type(std::string_view name);

bool is_integer(DataType type);   // signed or unsigned, 4- and 2-bit included; not bool
bool is_floating(DataType type);  // IEEE, bfloat16, float8, float4; not complex
inline bool is_sub_byte(DataType type) { return bits_of(type) == 4 || bits_of(type) == 2; }

}  // namespace sardonyx
