// Parameters of ConvTranspose and the geometry they settle to, shared with the lowering of the CPU
// provider.
#pragma once

#include "ops/conv/window.h"

namespace sardonyx {

struct ConvTransposeParams {
  WindowParams window;
  int64_t group = 1;
  SmallVector<int64_t, 4> output_padding;
  SmallVector<int64_t, 4> output_shape;  // spatial sizes; explicit pads are then ignored

  int64_t extra(size_t axis) const { return output_padding.empty() ? 0 : output_padding[axis]; }
};

// Throws Error(kInvalidGraph) as parse_window does.
ConvTransposeParams parse_conv_transpose(const Node& node);

// In `in`, `out` and the window of each axis: element j of the input adds to element
// j * stride + k * dilation - pad_begin of the output.
WindowAxes settle_transposed(const ConvTransposeParams& params, std::span<const int64_t> in,
                             std::span<const int64_t> out, std::span<const int64_t> kernel);

}  // namespace sardonyx
