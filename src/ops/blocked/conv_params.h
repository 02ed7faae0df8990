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

// Channels, groups and kernel of the family's shape.
kernels::ConvShape kernel_shape(const BlockedConvParams& params);

// Throws Error(kInvalidGraph).
BlockedConvParams parse_blocked_conv(const Node& node);

// Output 0, for a stride-down window; checks the shapes of all inputs.
void infer_blocked_conv(InferContext& context);

// Fails when input 0 is known not to hold the channels.
void check_conv_input(const InferContext& context, const BlockedConvParams& params);
// Fails when the packed weights (input 1), packed bias (2) or residual (3) are known not to be what
// a convolution with this output reads.
void check_conv_operands(const InferContext& context, const BlockedConvParams& params,
                         const Dims& output);

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
