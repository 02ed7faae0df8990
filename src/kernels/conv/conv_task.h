// The inner form of a convolution, shared by conv and conv_transpose: one image and group, a list
// of taps, a grid of output pixels. conv.cc and conv_transpose.cc reduce their arguments to tasks;
// the tile kernels (conv_tiles-inl.h, one source per block width) run them. Private to both
// families.
#pragma once

#include <cstdint>

#include "base/cpu.h"
#include "kernels/epilogue.h"

namespace sardonyx::kernels {

// Displacement in the input, in rows and columns, from the pixel's origin.
struct ConvTap {
  int32_t dy;
  int32_t dx;
};

// Strides are in floats. Output pixel (i, j) of the grid reads, for tap t, input pixel
// (i * step_h + taps[t].dy, j * step_w + taps[t].dx), zeros outside of the input.
struct ConvTask {
  const float* input;
  int64_t in_h, in_w;
  int64_t in_row_stride, in_pixel_stride;
  int64_t in_channels;
  int64_t channel_step;    // consecutive channels of a pixel: the block width, or 1 (plain)
  int64_t channel_stride;  // to the next group of channel_step channels
  const ConvTap* taps;
  int64_t tap_count;
  int64_t step_h, step_w;

  int64_t grid_w;                  // pixels of the grid count row-major
  int64_t pixel_begin, pixel_end;  // part of the grid to compute
  float* output;                   // block 0, grid pixel (0, 0)
  const float* residual;           // same addressing as output, or null
  int64_t out_row_stride, out_pixel_stride, out_block_stride;
  int64_t out_channels;

  const float* weights;  // panel 0
  int64_t panel_stride;  // between panels
  const float* bias;     // of block 0, or null
  int64_t panel_blocks;
  int64_t panel_begin, panel_end;
  const Epilogue* epilogue;
};

struct ConvTaskKernels {
  void (*run)(const ConvTask& task);
  int (*panel_blocks)(int64_t blocks);
};
const ConvTaskKernels& conv_task_kernels_c4(Isa isa);
const ConvTaskKernels& conv_task_kernels_c8(Isa isa);
const ConvTaskKernels& conv_task_kernels_c16(Isa isa);

inline const ConvTaskKernels& conv_task_kernels(int block, Isa isa) {
  return block == 16  ? conv_task_kernels_c16(isa)
         : block == 8 ? conv_task_kernels_c8(isa)
                      : conv_task_kernels_c4(isa);
}

}  // namespace sardonyx::kernels
