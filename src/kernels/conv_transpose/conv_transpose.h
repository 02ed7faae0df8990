// ConvTranspose on blocked activations, in gather form: output pixels that see the same kernel taps
// ("phases", stride_h x stride_w of them) form a stride-1 convolution each, computed by the tiles
// of the conv family; a kernel equal to its stride is one GEMM per phase. Fused epilogue as in
// conv. Called by the CPU provider's ConvTranspose steps.
#pragma once

#include <cstdint>

#include "base/cpu.h"
#include "kernels/conv/conv.h"

namespace sardonyx::kernels {

// ConvShape as the operator sees it: window.in_* is its input, window.out_* its output (the caller
// has settled output_padding, output_shape and auto_pad), pads and dilations as in ONNX.
// tile.plain_input must be false.
bool conv_transpose_supported(const ConvShape& shape, const ConvTile& tile);

// conv_panels() and the bias functions of conv apply unchanged.
int64_t packed_conv_transpose_weights_size(const ConvShape& shape, const ConvTile& tile);
// iohw: [in_channels][out_channels / groups][kernel_h][kernel_w].
// Packed: [group][phase], each as the convolution with the phase's taps (pack_conv_weights).
void pack_conv_transpose_weights(const ConvShape& shape, const ConvTile& tile, const float* iohw,
                                 float* packed);

struct ConvTransposeRange {
  int64_t batch_begin = 0, batch_end = 0;
  int64_t row_begin = 0, row_end = 0;  // output rows
  int64_t panel_begin = 0, panel_end = 0;
};
ConvTransposeRange conv_transpose_full_range(const ConvShape& shape, const ConvTile& tile);

struct ConvTransposeKernels {
  int (*panel_blocks)(int block, int64_t group_out_channels);
  void (*run)(const ConvArgs& args, const ConvTransposeRange& range);
};
const ConvTransposeKernels& conv_transpose_kernels(Isa isa = best_isa());

}  // namespace sardonyx::kernels
