// Conversion between plain and blocked activations at the edges of a blocked region. Any channel
// count; pad lanes are written as zero and never read. Called by the CPU provider's reorder steps.
#pragma once

#include <cstdint>

#include "base/cpu.h"
#include "kernels/blocked/layout.h"

namespace sardonyx::kernels {

struct ReorderArgs {
  int64_t batch = 1;
  int64_t channels = 0;
  int64_t pixels = 0;  // h * w
  int block = 8;
  const float* input = nullptr;
  float* output = nullptr;
};

// Planes (batch, channel block) and pixels one call converts.
struct ReorderRange {
  int64_t plane_begin = 0, plane_end = 0;
  int64_t pixel_begin = 0, pixel_end = 0;
};

struct ReorderKernels {
  void (*nchw_to_blocked)(const ReorderArgs& args, const ReorderRange& range);
  void (*blocked_to_nchw)(const ReorderArgs& args, const ReorderRange& range);
  void (*nhwc_to_blocked)(const ReorderArgs& args, const ReorderRange& range);
  void (*blocked_to_nhwc)(const ReorderArgs& args, const ReorderRange& range);
};
const ReorderKernels& reorder_kernels(Isa isa = best_isa());

}  // namespace sardonyx::kernels
