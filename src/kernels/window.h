// The geometry of a sliding 2-D window, shared by conv, depthwise, conv_transpose and pool. Output
// sizes are given, not derived: padding at the bottom and right, auto_pad, ceil_mode and
// output_padding are settled by the caller and show up only as out_h and out_w. One-dimensional
// operators use height 1.
#pragma once

#include <cstdint>

namespace sardonyx::kernels {

struct Window2d {
  int64_t in_h = 1, in_w = 1;
  int64_t out_h = 1, out_w = 1;
  int64_t kernel_h = 1, kernel_w = 1;
  int64_t stride_h = 1, stride_w = 1;
  int64_t dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0;
};

}  // namespace sardonyx::kernels
