// Compares a result with what is expected, as NumPy's assert_allclose does: type and shape exactly,
// |actual - expected| <= atol + rtol * |expected| for each element, NaN equal to NaN; strings and
// types without plain numbers byte by byte. Sequences and optionals item by item.
#pragma once

#include <string>

#include "sardonyx/value.h"

namespace sardonyx::cli {

struct Tolerance {
  double relative = 1e-3;  // those of ONNX's backend test suite
  double absolute = 1e-7;
};

struct Comparison {
  bool is_equal = false;
  std::string summary;  // one line: the largest errors, or the first difference
};

Comparison compare(const Value& actual, const Value& expected, const Tolerance& tolerance);

}  // namespace sardonyx::cli
