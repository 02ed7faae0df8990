// Parameters and shape of Conv, shared with the quantised convolutions and the lowering of the CPU
// provider.
#pragma once

#include "ops/conv/window.h"

namespace sardonyx {

struct ConvParams {
  WindowParams window;
  int64_t group = 1;
};

// Throws Error(kInvalidGraph) as parse_window does, and for a group below 1.
ConvParams parse_conv(const Node& node);

// The output shape of a convolution, from the inputs with these indices; fails when they do not
// fit.
SymShape infer_conv(InferContext& context, const ConvParams& params, size_t input, size_t weight,
                    size_t bias);

}  // namespace sardonyx
