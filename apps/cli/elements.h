// Reading and writing single elements of a Value as double, for summaries, comparisons and filling.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sardonyx/value.h"

namespace sardonyx::cli {

// float16 and bfloat16 bits to and from double, rounding to nearest even.
double decode_half(uint16_t bits);
uint16_t encode_half(double value);
double decode_bfloat16(uint16_t bits);
uint16_t encode_bfloat16(double value);

// True for the types below: float, double, float16, bfloat16, bool and integers of 8 to 64 bits.
bool has_doubles(ElementType type);

// Elements as doubles (64-bit integers may round). Throws Error(kInvalidArgument) for other types.
std::vector<double> to_doubles(const Value& value);

// Writes elements, converting to the Value's type; integers are cut off at their range.
void set_from_doubles(Value& value, std::span<const double> elements);

// "float[1,3,224,224]", "sequence of 3", "optional", "optional that holds nothing", "empty"
std::string describe(const Value& value);

}  // namespace sardonyx::cli
