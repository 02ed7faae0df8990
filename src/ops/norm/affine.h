// Scale and bias of row-wise normalisation (LayerNormalization, RMSNormalization): of the shape of
// a row, or broadcast to it, in which case the first phase of the step expands them into scratch.
#pragma once

#include <fmt/format.h>

#include <vector>

#include "ops/infer.h"
#include "ops/kernel.h"

namespace sardonyx {

// Fails when input `i` is known not to broadcast to the dimensions of input 0 from `axis` on.
inline void check_row_affine(InferContext& context, size_t i, size_t axis) {
  if (!context.has_input(i) || !context.input_shape(i)) return;
  const Dims& x = *context.input_shape(0);
  const Dims& shape = *context.input_shape(i);
  bool fits = shape.size() <= x.size();
  for (size_t d = 0; fits && d < shape.size(); ++d) {
    const size_t at = x.size() - shape.size() + d;
    const Dim target = at < axis ? Dim(1) : x[at];
    fits = !shape[d].is_known() || shape[d].is(1) || !target.is_known() || shape[d] == target;
  }
  if (!fits) {
    context.fail(
        fmt::format("input {} does not broadcast to the dimensions from axis {} on", i, axis));
  }
}

// Where a scale or bias is read from.
struct RowAffine {
  int64_t scratch_offset = -1;  // of the expanded copy; -1: the input is a whole row
  std::vector<int32_t> index;   // source element of each column, when expanded

  template <typename T>
  const T* data(const RunContext& context, size_t input) const {
    if (scratch_offset < 0) return context.in<T>(input);
    return reinterpret_cast<const T*>(context.scratch + scratch_offset);
  }
};

struct RowAffineState {
  int64_t rows = 1, columns = 1;
  RowAffine scale, bias;  // inputs 1 and 2
  bool expands = false;   // phase 0 of two expands
};

// Source element of each column of a row [x dimensions from axis on]; empty when it is the column.
inline std::vector<int32_t> row_index(const Shape& x, size_t axis, const Shape& shape) {
  const int64_t columns = element_count(x, axis, x.size());
  if (element_count(shape) == columns) return {};
  std::vector<int32_t> index(static_cast<size_t>(columns));
  for (int64_t column = 0; column < columns; ++column) {
    int64_t rest = column, source = 0, step = 1;
    for (size_t d = 0; d < shape.size() && d < x.size() - axis; ++d) {
      const int64_t size = x[x.size() - 1 - d], own = shape[shape.size() - 1 - d];
      if (own != 1) source += rest % size * step;
      rest /= size;
      step *= own;
    }
    index[static_cast<size_t>(column)] = static_cast<int32_t>(source);
  }
  return index;
}

template <typename T>
void plan_row_affine(const ResolveContext& context, int64_t axis, StepPlan& plan,
                     double nanoseconds_per_element) {
  const Shape& x = context.input_shape(0);
  const auto first = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(x.size()) : axis);
  auto state = std::make_shared<RowAffineState>();
  state->rows = element_count(x, 0, first);
  state->columns = element_count(x, first, x.size());
  for (size_t i = 1; i <= 2; ++i) {
    if (!context.has_input(i)) continue;
    RowAffine& affine = i == 1 ? state->scale : state->bias;
    affine.index = row_index(x, first, context.input_shape(i));
    if (affine.index.empty()) continue;
    state->expands = true;
    affine.scratch_offset = plan.scratch_bytes;
    plan.scratch_bytes += (state->columns * static_cast<int64_t>(sizeof(T)) + 63) / 64 * 64;
  }
  plan.phases = state->expands ? 2 : 1;
  plan.split(plan.phases - 1, state->rows,
             nanoseconds_per_element * static_cast<double>(state->columns));
  plan.state = std::move(state);
}

// True when this was the expanding phase.
template <typename T>
bool expand_row_affine(const RunContext& context, const RowAffineState& state) {
  if (!state.expands || context.phase != 0) return false;
  for (size_t i = 1; i <= 2; ++i) {
    const RowAffine& affine = i == 1 ? state.scale : state.bias;
    T* out = reinterpret_cast<T*>(context.scratch + affine.scratch_offset);
    for (size_t column = 0; column < affine.index.size(); ++column) {
      out[column] = context.in<T>(i)[affine.index[column]];
    }
  }
  return true;
}

}  // namespace sardonyx
