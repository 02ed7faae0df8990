// The 26 element types of ONNX, whose numbers equal TensorProto.DataType, and two of our own for
// sequences and optionals. Facts only: names, widths, kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sardonyx/element_type.h"

namespace sardonyx {

using DataType = ElementType;
inline constexpr int kDataTypeCount = 27;  // kUndefined included

// Types of tensors whose elements are Tensor objects. They live in memory only and are none of the
// 26. A sequence has rank 1. An optional has rank 1 and no or one element, a tensor or a sequence.
inline constexpr DataType kSequenceType{-1};
inline constexpr DataType kOptionalType{-2};

// Are the elements Tensor objects?
inline bool holds_values(DataType type) { return type == kSequenceType || type == kOptionalType; }
// Are the elements objects with a destructor (std::string, Tensor)? Then bytes must not be copied.
inline bool holds_objects(DataType type) { return type == DataType::kString || holds_values(type); }

// Is `number` one of the 26 (kUndefined is not)?
bool is_data_type(int64_t number);

// Width of one element in bits; 0 for objects and kUndefined.
int bits_of(DataType type);

// Bytes that `count` elements take, 4-bit and 2-bit types packed (rounded up to a byte); objects
// count their sizeof. nullopt when the product overflows int64 or count is negative.
std::optional<int64_t> storage_bytes(DataType type, int64_t count);

// ONNX text names: "float", "int64", "float8e4m3fn", ...; "sequence" and "optional"; "undefined"
// otherwise.
const char* name_of(DataType type);
std::optional<DataType> parse_data_type(std::string_view name);

bool is_integer(DataType type);   // signed or unsigned, 4- and 2-bit included; not bool
bool is_floating(DataType type);  // IEEE, bfloat16, float8, float4; not complex
inline bool is_sub_byte(DataType type) { return bits_of(type) == 4 || bits_of(type) == 2; }

}  // namespace sardonyx
