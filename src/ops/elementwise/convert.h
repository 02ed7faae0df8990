// Conversion of elements between any two of the types that Cast knows. Policy where the standard
// leaves it open (docs/numerics.md): float to integer truncates and saturates, to 4 and 2 bits it
// keeps the low bits instead, NaN gives 0; integer to integer keeps the low bits; anything but 0 is
// true. The same everywhere: folding, runs, every CPU level.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "tensor/data_type.h"
#include "tensor/numeric.h"

namespace sardonyx {

struct ConvertOptions {
  bool saturate = true;                       // to float8
  E8M0Rounding rounding = E8M0Rounding::kUp;  // to float8e8m0
};

// Elements [begin, begin + n) of `from` become the same elements of `to`. `to` may be `from` when
// both types have the same width. For a sub-byte target `begin` must be a multiple of 8. Fails on a
// string that is not a number.
Status convert_elements(DataType from_type, const void* from, DataType to_type, void* to,
                        int64_t begin, int64_t n, const ConvertOptions& options);

bool is_convertible(DataType type);

// Elements [begin, begin + n) widened; `type` is an integer or bool (uint64_t as its bits), or a
// floating type.
void load_int64(DataType type, const void* data, int64_t begin, int64_t n, int64_t* out);
void load_double(DataType type, const void* data, int64_t begin, int64_t n, double* out);

// Numbers as text, as numpy writes them: shortest digits that read back as the same value of
// `type`.
std::string format_number(double value, DataType type);
// Reads decimal and scientific notation, "inf", "+INF", "nan" in any case, blanks around. False
// when `text` is none of them.
bool parse_number(const std::string& text, double& value);
bool parse_number(const std::string& text, float& value);
bool parse_number(const std::string& text, int64_t& value);  // falls back on truncating a decimal

}  // namespace sardonyx
