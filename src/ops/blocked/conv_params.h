// Parameters of the blocked convolutions (BlockedConv, BlockedDepthwiseConv, BlockedConvTranspose)
// and of the nodes that pack their weights.
#pragma once

#include "kernels/conv/conv.h"
#include "ops/blocked/blocked.h"
#include "ops/conv/window.h"

namespace sardonyx {

// kernel_shape is always given: packed weights have lost it. `channels` counts input channels.
struct BlockedConvParams {
  WindowParams window;
  int64_t group = 1;
  int64_t channels = 0;
  int64_t filters = 0;
  kernels::ConvTile tile;
  kernels::Epilogue epilogue;
};

// Throws Error(kInvalidGraph).
BlockedConvParams parse_blocked_conv(const Node& node);

// Output 0, for a stride-down window; checks ranks, and the channels of input 0.
void infer_blocked_conv(InferContext& context);

// What packed weights depend on, from the attributes of a pack node and the plain weight's shape.
// Depthwise weights are [C, 1, kh, kw].
struct PackParams {
  int64_t group = 1;
  kernels::ConvTile tile;
  WindowParams window;  // ConvTranspose: its phases depend on strides, dilations, pads
};
PackParams parse_pack(const Node& node);
kernels::ConvShape pack_shape(const PackParams& params, const Shape& oihw);

// The attributes that all blocked convolutions share, as a schema text.
#define SDX_BLOCKED_CONV_ATTRIBUTES                                                            \
  "auto_pad: string = 'NOTSET', dilations: ints?, group: int = 1, kernel_shape: ints!, "       \
  "pads: ints?, strides: ints?, block: int = 8, channels: int!, filters: int!, "               \
  "panel_blocks: int = 1, plain_input: int = 0, activation: string = '', alpha: float = 0.0, " \
  "beta: float = 0.0"

}  // namespace sardonyx
