// What MaxPool, AveragePool and LpPool share: parameters, shape inference, and the walk over the
// cells of a window. Also read by the lowering of the CPU provider.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ops/conv/window.h"
#include "ops/kernel.h"

namespace sardonyx {

struct PoolParams {
  WindowParams window;
  bool count_include_pad = false;  // AveragePool, LpPool
  bool column_major = false;       // MaxPool: order of Indices
  double p = 2.0;                  // LpPool
};

// Throws Error(kInvalidGraph) as parse_window does, and when kernel_shape is missing.
PoolParams parse_pool(const Node& node);

// Output 0 (and output 1, int64, when the node has it).
void infer_pool(InferContext& context);

// The cells of the input that one window position covers along one axis.
struct WindowSpan {
  int64_t begin = 0;  // first cell
  int64_t end = 0;    // past the last one; steps of `step`
  int64_t step = 1;
  int64_t with_pads = 0;  // cells counted with padding, but not beyond it
};

// Every window position of every axis, and the sizes around them.
struct PoolState {
  SmallVector<int64_t, 4> in, out;             // spatial sizes
  std::vector<std::vector<WindowSpan>> spans;  // [axis][output position]
  int64_t planes = 0;                          // batch * channels
  int64_t in_size = 1, out_size = 1, taps = 1;
};

std::shared_ptr<PoolState> make_pool_state(const PoolParams& params, const ResolveContext& context);

// Splits the work of all windows. A window may be as large as its plane, so large ones get more
// chunks than others do: a Run that is cancelled waits for those that have begun.
void split_windows(const PoolState& state, double nanoseconds_per_tap, StepPlan& plan);

// The windows that meet at one output position.
using PoolPosition = std::array<const WindowSpan*, kMaxSpatialRank>;

// Calls visit(offset of the input cell in its plane) for the cells of a window, row-major.
template <typename Visit>
void visit_window(const PoolState& state, const PoolPosition& at, size_t axis, int64_t base,
                  Visit& visit) {
  const WindowSpan& span = *at[axis];
  if (axis + 1 == state.in.size()) {
    for (int64_t i = span.begin; i < span.end; i += span.step) visit(base + i);
    return;
  }
  for (int64_t i = span.begin; i < span.end; i += span.step) {
    visit_window(state, at, axis + 1, (base + i) * state.in[axis + 1], visit);
  }
}

// Calls body(plane, output offset in its plane, position) for some of the planes * out_size output
// positions, row-major.
template <typename Body>
void for_each_position(const PoolState& state, const Range& positions, Body&& body) {
  if (positions.begin >= positions.end) return;
  const size_t rank = state.out.size();
  std::array<int64_t, kMaxSpatialRank> index{};
  PoolPosition at{};
  int64_t plane = positions.begin / state.out_size, offset = positions.begin % state.out_size;
  for (size_t axis = rank, rest = static_cast<size_t>(offset); axis-- > 0;) {
    const auto size = static_cast<size_t>(state.out[axis]);
    index[axis] = static_cast<int64_t>(rest % size);
    at[axis] = state.spans[axis].data() + index[axis];
    rest /= size;
  }
  for (int64_t i = positions.begin; i < positions.end; ++i) {
    body(plane, offset, at);
    for (size_t axis = rank; axis-- > 0;) {
      ++at[axis];
      if (++index[axis] < state.out[axis]) break;
      index[axis] = 0;
      at[axis] = state.spans[axis].data();
    }
    if (++offset < state.out_size) continue;
    offset = 0;
    ++plane;
  }
}

}  // namespace sardonyx
