// Parameters of Conv, shared with the lowering of the CPU provider.
#pragma once

#include "ops/conv/window.h"

namespace sardonyx {

struct ConvParams {
  WindowParams window;
  int64_t group = 1;
};

// Throws Error(kInvalidGraph) as parse_window does, and for a group below 1.
ConvParams parse_conv(const Node& node);

}  // namespace sardonyx
