// Softmax and log-softmax of float rows, maximum subtracted. A row of -inf only, a row with +inf
// and a row with NaN give NaN throughout, as the formula does. Output may be the input. Called by
// the softmax operators, attention and loss operators.
#pragma once

#include <cstdint>

#include "base/cpu.h"

namespace sardonyx::kernels {

struct SoftmaxKernels {
  // Along contiguous rows: in and out are [rows, columns], the elements of a row adjacent and rows
  // in_stride and out_stride floats apart.
  void (*softmax)(int64_t rows, int64_t columns, const float* in, int64_t in_stride, float* out,
                  int64_t out_stride);
  void (*log_softmax)(int64_t rows, int64_t columns, const float* in, int64_t in_stride, float* out,
                      int64_t out_stride);
  // Along the middle axis of a dense [length, inner] block (axis not last): for every inner
  // position the softmax over length. A caller loops over the outer axes, or splits inner: `stride`
  // floats lie between steps of the axis, in both in and out.
  void (*softmax_strided)(int64_t length, int64_t inner, int64_t stride, const float* in,
                          float* out);
  void (*log_softmax_strided)(int64_t length, int64_t inner, int64_t stride, const float* in,
                              float* out);
};

const SoftmaxKernels& softmax_kernels(Isa isa = best_isa());

}  // namespace sardonyx::kernels
