// Depthwise convolution (one filter per channel) on blocked activations, with fused epilogue:
//   output = activation(conv(input) + bias + residual).
// Kernel widths 3 and 5 at stride 1 and 2 without dilation have their own loops; everything else
// takes a general one. Called by the CPU provider's depthwise steps.
#pragma once

#include <cstdint>

#include "base/cpu.h"
#include "kernels/blocked/layout.h"
#include "kernels/epilogue.h"
#include "kernels/window.h"

namespace sardonyx::kernels {

struct DepthwiseShape {
  int64_t batch = 1;
  int64_t channels = 0;
  Window2d window;
};

// Floats of packed weights; of a packed bias.
int64_t packed_depthwise_weights_size(const DepthwiseShape& shape, int block);
int64_t packed_depthwise_bias_size(const DepthwiseShape& shape, int block);
// ohw: [channels][kernel_h][kernel_w] -> [block][tap][c], zeros in pad lanes.
void pack_depthwise_weights(const DepthwiseShape& shape, int block, const float* ohw,
                            float* packed);
void pack_depthwise_bias(const DepthwiseShape& shape, int block, const float* bias, float* packed);

struct DepthwiseArgs {
  DepthwiseShape shape;
  int block = 8;
  const float* input = nullptr;
  const float* weights = nullptr;   // packed
  const float* bias = nullptr;      // packed; may be null
  const float* residual = nullptr;  // blocked, same shape as output; may be null; may be output
  float* output = nullptr;          // must not overlap input
  Epilogue epilogue;
};

struct DepthwiseKernels {
  // Rows of the range are output rows.
  void (*run)(const DepthwiseArgs& args, const PlaneRange& range);
};
const DepthwiseKernels& depthwise_kernels(Isa isa = best_isa());

}  // namespace sardonyx::kernels
