// Layer and root-mean-square normalisation of float rows, with the residual add that transformers
// put before it. Statistics take two passes (mean, then squared distances from it), never
// E[x^2] - E[x]^2. Rows are independent, so a caller splits them over threads. Called by
// LayerNormalization, SkipLayerNormalization, RMSNormalization and, a row per group, GroupNorm and
// InstanceNormalization.
#pragma once

#include <cstdint>

#include "base/cpu.h"

namespace sardonyx::kernels {

// out = (x - mean) * inv_std * scale + bias with x = in + residual + residual_bias.
struct NormArgs {
  int64_t rows = 0, columns = 0;  // no columns: nothing is written
  const float* in = nullptr;
  int64_t in_stride = 0;            // floats between rows
  const float* residual = nullptr;  // [rows, columns] or null
  int64_t residual_stride = 0;
  const float* residual_bias = nullptr;  // [columns] or null; needs residual
  const float* scale = nullptr;          // [columns] or null (1)
  const float* bias = nullptr;           // [columns] or null (0)
  float epsilon = 0;
  float* out = nullptr;  // may be in or residual, with the same stride
  int64_t out_stride = 0;
  float* sum =
      nullptr;  // null, or receives x, out_stride between rows; may be in or residual, not out
  float* mean = nullptr;     // [rows] or null; layer_norm only
  float* inv_std = nullptr;  // [rows] or null: 1 / sqrt(variance + epsilon)
};

struct NormKernels {
  void (*layer_norm)(const NormArgs& args);
  // Without mean: out = x * inv_std * scale + bias, inv_std = 1 / sqrt(mean of x^2 + epsilon).
  void (*rms_norm)(const NormArgs& args);
};

const NormKernels& norm_kernels(Isa isa = best_isa());

}  // namespace sardonyx::kernels
