#include "ops/elementwise/loop.h"

namespace sardonyx {
BroadcastLoop plan_broadcast(const Shape& output, std::span<const Shape> shapes) {
  BroadcastLoop loop;
  loop.operands = shapes.size();
  loop.elements = element_count(output);
  // Innermost axis first while merging.
  struct Axis {
    int64_t dim;
    std::array<int64_t, BroadcastLoop::kMaxOperands> stride;
    std::array<bool, BroadcastLoop::kMaxOperands> moves;
  };
  SmallVector<Axis, 8> axes;
  std::array<int64_t, BroadcastLoop::kMaxOperands> size = {1, 1, 1};
  for (size_t back = 1; back <= output.size(); ++back) {
    const int64_t dim = output[output.size() - back];
    Axis axis{dim, {}, {}};
    for (size_t k = 0; k < shapes.size(); ++k) {
      const int64_t own = back <= shapes[k].size() ? shapes[k][shapes[k].size() - back] : 1;
      axis.moves[k] = own != 1;
      axis.stride[k] = own != 1 ? size[k] : 0;
      size[k] *= own;
    }
    if (dim == 1) continue;
    if (!axes.empty() && axes.back().moves == axis.moves) {
      axes.back().dim *= dim;
    } else {
      axes.push_back(axis);
    }
  }
  if (!axes.empty()) {
    loop.inner = axes[0].dim;
    for (size_t k = 0; k < shapes.size(); ++k) loop.step[k] = axes[0].moves[k] ? 1 : 0;
  }
  for (size_t i = axes.size(); i-- > 1;) {
    loop.dims.push_back(axes[i].dim);
    for (size_t k = 0; k < shapes.size(); ++k) loop.strides.push_back(axes[i].stride[k]);
  }
  return loop;
}

Shape align_at_axis(const Shape& shape, size_t rank, std::optional<int64_t> axis) {
  if (!axis || *axis < 0) return shape;
  Shape aligned = shape;
  while (aligned.size() + static_cast<size_t>(*axis) < rank) aligned.push_back(1);
  return aligned;
}

}  // namespace sardonyx
