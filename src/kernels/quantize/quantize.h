// Float rows to bytes and back, as QuantizeLinear and DequantizeLinear of int8 and uint8 define it:
//   quantize    saturate(round(x / scale) + zero), halves to even, NaN counts as 0
//   dequantize  (x - zero) * scale
// scale and zero are rows of their own (step 1) or one value (step 0); zero holds whole numbers of
// the byte type. Bits do not depend on the level. Called by the quantising operators.
#pragma once

#include <cstdint>

#include "base/cpu.h"

namespace sardonyx::kernels {

struct QuantizeRow {
  const float* scale = nullptr;
  const float* zero = nullptr;
  int64_t step = 0;  // of both
  bool is_signed = false;
};

struct QuantizeKernels {
  void (*quantize)(const float* x, int64_t n, const QuantizeRow& row, void* out);
  void (*dequantize)(const void* x, int64_t n, const QuantizeRow& row, float* out);
  // Lowers *low and raises *high to the extremes of x; NaN is ignored.
  void (*min_max)(const float* x, int64_t n, float* low, float* high);
};

const QuantizeKernels& quantize_kernels(Isa isa = best_isa());

}  // namespace sardonyx::kernels
