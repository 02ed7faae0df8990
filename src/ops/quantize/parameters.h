// Scales and zero points of matrix products and convolutions, as values of one row or column:
// one for all (a single element), one for each row of a matrix, or one for each row of every
// matrix. A parameter of `size` elements gives row i element i % size.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/op.h"
#include "ops/quantize/granularity.h"

namespace sardonyx {

inline constexpr size_t kNoInput = SIZE_MAX;

// As a float, of any type.
inline float value_at(const RunContext& context, size_t input, int64_t row) {
  const TensorView& values = context.input(input);
  float value;
  load_floats(values.type, values.data, row % values.size(), 1, &value);
  return value;
}

// 1 when the input is absent.
inline float scale_at(const RunContext& context, size_t input, int64_t row) {
  return context.has_input(input) ? value_at(context, input, row) : 1.0f;
}

// Of an int8 or uint8 tensor; 0 when the input is absent.
inline int32_t zero_at(const RunContext& context, size_t input, int64_t row) {
  if (!context.has_input(input)) return 0;
  const TensorView& values = context.input(input);
  const int64_t at = row % values.size();
  return values.type == DataType::kInt8 ? values.as<int8_t>()[at] : values.as<uint8_t>()[at];
}

inline bool is_single(const RunContext& context, size_t input) {
  return !context.has_input(input) || context.input(input).size() == 1;
}

// Fails unless input `input`, when present, is a single element, a vector over the axis of
// `operand` that lies `kept` from its end, or has the shape of `operand` with 1 on the axis that
// lies `contracted` from its end (both counted from 1).
void check_parameter(const InferContext& context, size_t input, const SymShape& operand,
                     size_t kept, size_t contracted);

}  // namespace sardonyx
