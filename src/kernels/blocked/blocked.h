// Element-wise work on blocked activations: binary operators with the broadcasts that occur inside
// CNNs, and activations. Results keep pad lanes zero whatever the operator does to zero. Called by
// the CPU provider's element-wise steps in blocked regions.
#pragma once

#include <cstdint>

#include "base/cpu.h"
#include "kernels/blocked/layout.h"
#include "kernels/epilogue.h"

namespace sardonyx::kernels {

enum class BlockedBinary : uint8_t {
  kAdd,
  kSub,         // a - b
  kReverseSub,  // b - a
  kMul,
  kDiv,         // a / b
  kReverseDiv,  // b / a
};

// How operand b spreads over a.
enum class BlockedOperand : uint8_t {
  kFull,           // blocked, same shape as a
  kChannel,        // blocked [N, C, 1, 1]: one vector per plane (a squeeze-excite scale)
  kChannelShared,  // blocked [1, C, 1, 1]
  kPixel,          // plain [N, 1, H, W]: one float per pixel
  kScalar,         // one float
};

// output = activation(a op b); output may be a or a full b.
struct BlockedBinaryArgs {
  int64_t batch = 1;
  int64_t channels = 0;
  int64_t pixels = 0;  // h * w
  int block = 8;
  BlockedBinary op = BlockedBinary::kAdd;
  BlockedOperand operand = BlockedOperand::kFull;
  const float* a = nullptr;
  const float* b = nullptr;
  float* output = nullptr;
  Epilogue epilogue;
};

// output = activation(input); output may be input.
struct BlockedActivationArgs {
  int64_t batch = 1;
  int64_t channels = 0;
  int64_t pixels = 0;
  int block = 8;
  const float* input = nullptr;
  float* output = nullptr;
  Epilogue epilogue;
};

// Planes (batch, channel block) and pixels one call computes.
struct BlockedRange {
  int64_t plane_begin = 0, plane_end = 0;
  int64_t pixel_begin = 0, pixel_end = 0;
};

struct BlockedKernels {
  void (*binary)(const BlockedBinaryArgs& args, const BlockedRange& range);
  void (*activation)(const BlockedActivationArgs& args, const BlockedRange& range);
};
const BlockedKernels& blocked_kernels(Isa isa = best_isa());

}  // namespace sardonyx::kernels
