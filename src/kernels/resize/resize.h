// Resizing of blocked activations along height and width from tables the caller prepares (they hold
// coordinate modes, rounding, regions and clamping), so that the kernel knows only "which source
// pixels, which weights". Called by the CPU provider's Resize and Upsample steps.
#pragma once

#include <cstdint>

#include "base/cpu.h"
#include "kernels/blocked/layout.h"

namespace sardonyx::kernels {

struct ResizeShape {
  int64_t planes = 0;  // batch * channel blocks
  int64_t in_h = 1, in_w = 1;
  int64_t out_h = 1, out_w = 1;
  int block = 8;
};

// output[y][x] = input[row[y]][column[x]]; indices are valid input coordinates.
struct ResizeNearestArgs {
  ResizeShape shape;
  const int32_t* row = nullptr;     // [out_h]
  const int32_t* column = nullptr;  // [out_w]
  const float* input = nullptr;
  float* output = nullptr;
};

// One axis of a linear resize: value(i) = low_weight[i] * v[low[i]] + high_weight[i] * v[high[i]].
struct LinearAxis {
  const int32_t* low = nullptr;
  const int32_t* high = nullptr;
  const float* low_weight = nullptr;
  const float* high_weight = nullptr;
};

// Each source row is interpolated along x first, then rows along y.
struct ResizeLinearArgs {
  ResizeShape shape;
  LinearAxis row;     // [out_h]
  LinearAxis column;  // [out_w]
  const float* input = nullptr;
  float* output = nullptr;
};

// Nearest by whole factors: output[y][x] = input[y / factor_h][x / factor_w], out sizes = in sizes
// times factor. Each input row is read once per output row group; factor 2 x 2 is the fast one.
struct UpsampleArgs {
  ResizeShape shape;
  int64_t factor_h = 2, factor_w = 2;
  const float* input = nullptr;
  float* output = nullptr;
};

struct ResizeKernels {
  // Rows of the range are output rows.
  void (*nearest)(const ResizeNearestArgs& args, const PlaneRange& range);
  void (*linear)(const ResizeLinearArgs& args, const PlaneRange& range);
  void (*upsample)(const UpsampleArgs& args, const PlaneRange& range);
};
const ResizeKernels& resize_kernels(Isa isa = best_isa());

}  // namespace sardonyx::kernels
