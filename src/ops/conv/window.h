// Sliding windows as Conv, ConvTranspose and the pools describe them: attributes, output sizes by
// auto_pad, pads and ceil_mode, and the settled geometry under concrete shapes. Called by those
// operators and by the lowering of the CPU provider.
#pragma once

#include <cstdint>
#include <span>

#include "ops/infer.h"
#include "tensor/shape.h"

namespace sardonyx {

inline constexpr size_t kMaxSpatialRank = 8;

enum class AutoPad : uint8_t { kNotSet, kSameUpper, kSameLower, kValid };

// Lists are empty when the attribute is absent; `kernel` then comes from the weight, strides and
// dilations are 1, pads 0. Pads hold all begins, then all ends.
struct WindowParams {
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;
  // A window larger than the padded axis is allowed when it lacks less than a stride (pools).
  bool may_overhang = false;
  SmallVector<int64_t, 4> kernel, strides, dilations;
  SmallVector<int64_t, 6> pads;

  int64_t stride(size_t axis) const { return strides.empty() ? 1 : strides[axis]; }
  int64_t dilation(size_t axis) const { return dilations.empty() ? 1 : dilations[axis]; }
  int64_t pad_begin(size_t axis) const { return pads.empty() ? 0 : pads[axis]; }
  int64_t pad_end(size_t axis) const { return pads.empty() ? 0 : pads[axis + pads.size() / 2]; }
};

// One spatial axis, settled. pad_end only matters to average pooling that counts pad cells.
struct WindowAxis {
  int64_t in = 1;
  int64_t out = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;

  int64_t extent() const { return (kernel - 1) * dilation + 1; }
  friend bool operator==(const WindowAxis&, const WindowAxis&) = default;
};
using WindowAxes = SmallVector<WindowAxis, 3>;

// Reads auto_pad, ceil_mode, kernel_shape, strides, dilations and pads. Throws Error(kInvalidGraph)
// for an unknown auto_pad, a size or stride below 1 or a negative pad.
WindowParams parse_window(const Node& node);

// Fails when a list does not fit `spatial_rank` axes.
void check_window(InferContext& context, const WindowParams& params, size_t spatial_rank);

// Output size of one axis of a convolution or pool, as docs/numerics.md says; fails when the window
// is known not to fit.
Dim window_output(InferContext& context, const WindowParams& params, size_t axis, Dim in,
                  Dim kernel);

// The geometry for input and output spatial sizes; `kernel` is the weight's or kernel_shape.
WindowAxes settle_window(const WindowParams& params, std::span<const int64_t> in,
                         std::span<const int64_t> out, std::span<const int64_t> kernel);

// The spatial part of an [N, C, ...] shape.
inline std::span<const int64_t> spatial(const Shape& shape) {
  return std::span<const int64_t>(shape.data(), shape.size()).subspan(2);
}

}  // namespace sardonyx
