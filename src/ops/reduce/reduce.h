// What the Reduce operators share: parameters by version, shape inference, and the kernel. Each
// operator's file names its function and lists its versions.
#pragma once

#include <memory>

#include "kernels/reduce/reduce.h"
#include "ops/infer.h"
#include "ops/kernel.h"
#include "ops/op.h"

namespace sardonyx {

struct ReduceParams {
  std::optional<std::vector<int64_t>> axes;  // of the attribute
  bool keep_dims = true;
  bool noop_with_empty_axes = false;
};
ReduceParams parse_reduce(const Node& node);

// `op` folds tracked integers (ReduceProd of a shape, ...); kCount for operators that do not.
void infer_reduce(InferContext& context, kernels::ReduceOp op);

// Which dimensions are reduced. `axes` empty or absent: all, or none when noop_with_empty_axes.
SmallVector<bool, 8> reduced_dimensions(const ReduceParams& params,
                                        std::optional<std::span<const int64_t>> axes, size_t rank);

// A tensor seen as alternating groups of kept and reduced elements.
struct ReduceLayout {
  // The common form: one reduced group between kept ones.
  bool simple = true;
  int64_t outer = 1, reduced = 1, inner = 1;
  // The general form: sizes and input strides of the kept and of the reduced groups.
  SmallVector<int64_t, 4> kept, kept_stride;
  SmallVector<int64_t, 4> over, over_stride;
  int64_t outputs = 1;
};
ReduceLayout make_reduce_layout(const Shape& shape, const SmallVector<bool, 8>& reduced);

// Reads axes (attribute, or input 1) for resolve.
ReduceLayout resolve_reduce(const ReduceParams& params, const ResolveContext& context);

template <kernels::ReduceOp kOp>
void infer_reduce_op(InferContext& context) {
  infer_reduce(context, kOp);
}

// Schemas of the family: axes as attribute, then as input.
#define SDX_REDUCE_ATTRIBUTE "data: T -> reduced: T | axes: ints?, keepdims: int = 1 | T: "
#define SDX_REDUCE_INPUT \
  "data: T, axes: int64? -> reduced: T | keepdims: int = 1, noop_with_empty_axes: int = 0 | T: "

}  // namespace sardonyx
