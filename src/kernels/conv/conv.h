// Convolution on blocked activations (blocked/layout.h): an implicit GEMM over tiles of output
// pixels x panels of output-channel blocks, with bias, residual and activation applied in
// registers:
//   output = activation(conv(input) + bias + residual).
// Any kernel size, stride, dilation and padding; groups whose channels are whole blocks; the input
// may be plain NCHW (a network's first layer). Weights are packed once, by portable code, for a
// ConvTile. Depthwise convolution has its own family. Called by the CPU provider's conv steps.
#pragma once

#include <cstdint>

#include "base/cpu.h"
#include "kernels/epilogue.h"
#include "kernels/window.h"

namespace sardonyx::kernels {

struct ConvShape {
  int64_t batch = 1;
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  int64_t groups = 1;
  Window2d window;
};

// What packed weights depend on besides the shape.
struct ConvTile {
  int block = 8;             // width c of the blocked layout: 4, 8 or 16
  int panel_blocks = 4;      // output-channel blocks a panel holds, 1 to kMaxPanelBlocks
  bool plain_input = false;  // input is NCHW; its weights are packed tap by tap within a channel
};

inline constexpr int kMaxPanelBlocks = 4;
inline constexpr int64_t kMaxConvTaps = 1024;  // kernel_h * kernel_w

// Whether this family can compute the shape; if not, use the generic typed path. False for groups
// that are not whole blocks (depthwise among them), plain input with groups, very large kernels.
bool conv_supported(const ConvShape& shape, const ConvTile& tile);

// Panels of the whole convolution: groups x ceil(blocks of a group / panel_blocks).
int64_t conv_panels(const ConvShape& shape, const ConvTile& tile);

// Floats of packed weights; of a packed bias (out_channels rounded up to whole blocks).
int64_t packed_conv_weights_size(const ConvShape& shape, const ConvTile& tile);
int64_t packed_conv_bias_size(const ConvShape& shape, const ConvTile& tile);

// oihw: [out_channels][in_channels / groups][kernel_h][kernel_w].
// Packed: [panel][input block][tap][channel in block][panel_blocks * block output channels]; the
// last panel of a group holds only the blocks it has, the last input block only its channels.
void pack_conv_weights(const ConvShape& shape, const ConvTile& tile, const float* oihw,
                       float* packed);
// bias: [out_channels] -> padded with zeros.
void pack_conv_bias(const ConvShape& shape, const ConvTile& tile, const float* bias, float* packed);

struct ConvArgs {
  ConvShape shape;
  ConvTile tile;
  const float* input = nullptr;     // blocked, or [n][in_channels][h][w] when tile.plain_input
  const float* weights = nullptr;   // packed
  const float* bias = nullptr;      // packed; may be null
  const float* residual = nullptr;  // blocked, same shape as output; may be null; may be output
  float* output = nullptr;          // blocked
  Epilogue epilogue;
};

// The part of the output one call computes. Pixels count out_h * out_w in row-major order. Results
// do not depend on how the whole is split; whole multiples of kConvPixelGrain pixels are fastest.
struct ConvRange {
  int64_t batch_begin = 0, batch_end = 0;
  int64_t pixel_begin = 0, pixel_end = 0;
  int64_t panel_begin = 0, panel_end = 0;
};
inline constexpr int64_t kConvPixelGrain = 24;
ConvRange conv_full_range(const ConvShape& shape, const ConvTile& tile);

struct ConvKernels {
  // The panel_blocks this row is fastest with, for a block width and the output channels of a
  // group.
  int (*panel_blocks)(int block, int64_t group_out_channels);
  void (*run)(const ConvArgs& args, const ConvRange& range);
};
const ConvKernels& conv_kernels(Isa isa = best_isa());

}  // namespace sardonyx::kernels
