#include <algorithm>

#include "kernels/transpose/transpose.h"

namespace sardonyx::kernels {
namespace {

struct Axis {
  int64_t dim, in_stride, out_stride;
};

void add_outer(TransposePlan* plan, const Axis& axis) {
  plan->outer_dims[plan->outer_rank] = axis.dim;
  plan->outer_in_strides[plan->outer_rank] = axis.in_stride;
  plan->outer_out_strides[plan->outer_rank] = axis.out_stride;
  ++plan->outer_rank;
  plan->units *= axis.dim;
}

}  // namespace

bool make_transpose_plan(std::span<const int64_t> shape, std::span<const int64_t> perm,
                         int element_size, TransposePlan* plan) {
  const size_t rank = shape.size();
  if (perm.size() != rank || rank > kMaxTransposeRank) return false;
  if (element_size != 1 && element_size != 2 && element_size != 4 && element_size != 8 &&
      element_size != 16) {
    return false;
  }
  int64_t strides[kMaxTransposeRank];
  int64_t count = 1;
  for (size_t i = rank; i-- > 0;) {
    strides[i] = count;
    count *= shape[i];
  }
  // Output order; an axis joins its left neighbour when the two are neighbours in the input too.
  Axis axes[kMaxTransposeRank];
  size_t merged = 0;
  uint32_t seen = 0;
  for (size_t i = 0; i < rank; ++i) {
    if (perm[i] < 0 || perm[i] >= static_cast<int64_t>(rank)) return false;
    const size_t source = static_cast<size_t>(perm[i]);
    if (seen >> source & 1) return false;
    seen |= 1u << source;
    if (shape[source] == 1) continue;
    if (merged > 0 && axes[merged - 1].in_stride == strides[source] * shape[source]) {
      axes[merged - 1].dim *= shape[source];
      axes[merged - 1].in_stride = strides[source];
    } else {
      axes[merged++] = {shape[source], strides[source], 0};
    }
  }
  *plan = TransposePlan();
  plan->element_size = element_size;
  if (count == 0) return true;
  plan->units = 1;
  if (merged == 0) axes[merged++] = {1, 1, 0};
  int64_t stride = 1;
  for (size_t i = merged; i-- > 0;) {
    axes[i].out_stride = stride;
    stride *= axes[i].dim;
  }
  const Axis last = axes[merged - 1];
  plan->width = last.dim;
  if (last.in_stride == 1) {
    for (size_t i = 0; i + 1 < merged; ++i) add_outer(plan, axes[i]);
    return true;
  }
  plan->mode = TransposeMode::kTiles;
  plan->in_stride = last.in_stride;
  for (size_t i = 0; i + 1 < merged; ++i) {
    if (axes[i].in_stride != 1) {
      add_outer(plan, axes[i]);
      continue;
    }
    plan->height = axes[i].dim;
    plan->out_stride = axes[i].out_stride;
  }
  plan->units *= (plan->height + kTransposeUnit - 1) / kTransposeUnit;
  return true;
}

}  // namespace sardonyx::kernels
