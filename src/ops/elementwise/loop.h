// BroadcastLoop: how an element-wise operator walks operands of different shapes. Axes that all
// operands treat alike are merged, so what remains is a short list of outer axes around one inner
// run, along which every operand advances by 1 or stays (0). Any range of output elements can be
// walked; work is shared out in units of kLoopUnit elements.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "ops/kernel.h"

namespace sardonyx {

inline constexpr int64_t kLoopUnit = 2048;

inline int64_t loop_units(int64_t elements) { return (elements + kLoopUnit - 1) / kLoopUnit; }
// The elements of a chunk.
inline Range loop_part(const RunContext& context, int64_t elements) {
  const Range units = context.part(loop_units(elements));
  return {std::min(units.begin * kLoopUnit, elements), std::min(units.end * kLoopUnit, elements)};
}

struct BroadcastLoop {
  static constexpr size_t kMaxOperands = 3;

  size_t operands = 0;
  int64_t elements = 0;                     // of the output
  int64_t inner = 1;                        // elements of one run
  std::array<int, kMaxOperands> step = {};  // along the run: 0 or 1
  SmallVector<int64_t, 6> dims;             // of the outer axes
  SmallVector<int64_t, 18> strides;         // [axis][operand], in elements

  // Calls body(operand offsets, output offset, count), offsets and count in elements, for the runs
  // that make up output elements [part.begin, part.end).
  template <typename Body>
  void run(Range part, Body&& body) const;
};

// `shapes` are aligned at the last axis and broadcast to `output`.
BroadcastLoop plan_broadcast(const Shape& output, std::span<const Shape> shapes);

// The shape to use for operand B of an operator before opset 7: B's axes lie from `axis` of A on
// (axis < 0 or absent: at the end).
Shape align_at_axis(const Shape& shape, size_t rank, std::optional<int64_t> axis);

template <typename Body>
void BroadcastLoop::run(Range part, Body&& body) const {
  if (part.begin >= part.end) return;
  std::array<int64_t, kMaxOperands> base = {};
  SmallVector<int64_t, 6> index(dims.size(), 0);
  int64_t rest = part.begin / inner;
  for (size_t axis = dims.size(); axis-- > 0;) {
    index[axis] = rest % dims[axis];
    rest /= dims[axis];
    for (size_t k = 0; k < operands; ++k) base[k] += index[axis] * strides[axis * operands + k];
  }
  int64_t start = part.begin % inner;
  for (int64_t at = part.begin; at < part.end;) {
    const int64_t count = std::min(inner - start, part.end - at);
    std::array<int64_t, kMaxOperands> offset = base;
    for (size_t k = 0; k < operands; ++k) offset[k] += start * step[k];
    body(offset, at, count);
    at += count;
    start = 0;
    for (size_t axis = dims.size(); axis-- > 0;) {
      for (size_t k = 0; k < operands; ++k) base[k] += strides[axis * operands + k];
      if (++index[axis] < dims[axis]) break;
      for (size_t k = 0; k < operands; ++k) {
        base[k] -= dims[axis] * strides[axis * operands + k];
      }
      index[axis] = 0;
    }
  }
}

}  // namespace sardonyx
