// Elements of tensors as text: decimal for every number type (small floats are rounded to nearest,
// ties to even), hexadecimal for the bits of any type, quotes for strings. Used by the text syntax;
// not meant for speed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tensor/tensor.h"

namespace sardonyx {

// Numbers that one element takes in a literal: 2 for complex (real, imaginary), else 1.
int numbers_per_element(DataType type);

// Writes number `i` (element i, or element i / 2 of a complex tensor) from `token`. Throws
// Error(kInvalidArgument) naming token and type when it is malformed or out of range. Not for
// strings.
void parse_element(Tensor& tensor, int64_t i, std::string_view token);

// The inverse; strings are quoted. A NaN that is not the canonical one is printed as its bits.
std::string print_element(const Tensor& tensor, int64_t i);

// The shortest decimal that reads back as the same float; "nan", "inf", "-inf".
std::string print_float(float value);

// 8-, 16-bit and 4-bit floats: the value of the bits, and the bits of the nearest value. Out of
// range: infinity where the type has one, else NaN, else the largest (float4e2m1).
double decode_small_float(DataType type, uint32_t bits);
uint32_t encode_small_float(DataType type, double value);

// Words that begin a type: element type names, seq, optional, map, sparse, sparse_tensor.
bool is_type_word(std::string_view word);

}  // namespace sardonyx
