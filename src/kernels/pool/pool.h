// Pooling on blocked activations. Max: NaN wins; a window without any cell gives -infinity.
// Average: the divisor is the number of real cells, or with count_include_pad of real and pad
// cells; cells beyond the padded input (they arise from ceil_mode) never count. Called by the CPU
// provider's pooling steps.
#pragma once

#include <cstdint>

#include "base/cpu.h"
#include "kernels/blocked/layout.h"
#include "kernels/window.h"

namespace sardonyx::kernels {

struct PoolArgs {
  int64_t batch = 1;
  int64_t channels = 0;
  Window2d window;
  int64_t pad_bottom = 0, pad_right = 0;  // only read by average with count_include_pad
  bool count_include_pad = false;
  int block = 8;
  const float* input = nullptr;
  float* output = nullptr;
};

struct GlobalPoolArgs {
  int64_t batch = 1;
  int64_t channels = 0;
  int64_t pixels = 0;  // h * w
  int block = 8;
  const float* input = nullptr;
  float* output = nullptr;  // [n][blocks][1][1][c]
};

struct PoolKernels {
  // Rows of the range are output rows.
  void (*max)(const PoolArgs& args, const PlaneRange& range);
  void (*average)(const PoolArgs& args, const PlaneRange& range);
  void (*global_average)(const GlobalPoolArgs& args, int64_t plane_begin, int64_t plane_end);
  void (*global_max)(const GlobalPoolArgs& args, int64_t plane_begin, int64_t plane_end);
};
const PoolKernels& pool_kernels(Isa isa = best_isa());

}  // namespace sardonyx::kernels
