#include "kernels/softmax/softmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax/softmax.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/dispatch.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Largest element; a NaN may or may not be seen, it reaches the result through the sum.
HWY_INLINE V row_max(D d, const float* in, int64_t n) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  V m0 = hn::Neg(hn::Inf(d)), m1 = m0, m2 = m0, m3 = m0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    m0 = hn::Max(m0, hn::LoadU(d, in + i));
    m1 = hn::Max(m1, hn::LoadU(d, in + i + lanes));
    m2 = hn::Max(m2, hn::LoadU(d, in + i + 2 * lanes));
    m3 = hn::Max(m3, hn::LoadU(d, in + i + 3 * lanes));
  }
  for (; i + lanes <= n; i += lanes) m0 = hn::Max(m0, hn::LoadU(d, in + i));
  if (i < n) {
    const size_t left = static_cast<size_t>(n - i);
    const V v = load_n(d, in + i, left);
    m1 = hn::IfThenElse(hn::FirstN(d, left), hn::Max(m1, v), m1);
  }
  return hn::MaxOfLanes(d, hn::Max(hn::Max(m0, m1), hn::Max(m2, m3)));
}

// Sum of e^(in - max), in double steps of the vector width; stores the terms when out is given.
template <bool kStore>
HWY_INLINE float exp_sum(D d, const float* in, float* out, int64_t n, V max) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  V s0 = hn::Zero(d), s1 = s0;
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const V e0 = exp_nonpositive(d, hn::Sub(hn::LoadU(d, in + i), max));
    const V e1 = exp_nonpositive(d, hn::Sub(hn::LoadU(d, in + i + lanes), max));
    if constexpr (kStore) {
      hn::StoreU(e0, d, out + i);
      hn::StoreU(e1, d, out + i + lanes);
    }
    s0 = hn::Add(s0, e0);
    s1 = hn::Add(s1, e1);
  }
  for (; i < n; i += lanes) {
    const size_t left = static_cast<size_t>(n - i);
    V e = exp_nonpositive(d, hn::Sub(load_n(d, in + i, left), max));
    if (left < static_cast<size_t>(lanes)) e = hn::IfThenElseZero(hn::FirstN(d, left), e);
    if constexpr (kStore) store_n(e, d, out + i, left);
    s0 = hn::Add(s0, e);
  }
  return reduce_sum(d, hn::Add(s0, s1));
}

void softmax(int64_t rows, int64_t columns, const float* in, int64_t in_stride, float* out,
             int64_t out_stride) {
  if (columns <= 0) return;
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t r = 0; r < rows; ++r, in += in_stride, out += out_stride) {
    const float sum = exp_sum<true>(d, in, out, columns, row_max(d, in, columns));
    const V scale = hn::Set(d, 1.0f / sum);
    int64_t i = 0;
    for (; i + lanes <= columns; i += lanes) {
      hn::StoreU(hn::Mul(hn::LoadU(d, out + i), scale), d, out + i);
    }
    if (i < columns) {
      const size_t left = static_cast<size_t>(columns - i);
      store_n(hn::Mul(load_n(d, out + i, left), scale), d, out + i, left);
    }
  }
}

void log_softmax(int64_t rows, int64_t columns, const float* in, int64_t in_stride, float* out,
                 int64_t out_stride) {
  if (columns <= 0) return;
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t r = 0; r < rows; ++r, in += in_stride, out += out_stride) {
    const V max = row_max(d, in, columns);
    const V log_sum = log(d, hn::Set(d, exp_sum<false>(d, in, out, columns, max)));
    for (int64_t i = 0; i < columns; i += lanes) {
      const size_t left = static_cast<size_t>(columns - i);
      store_n(hn::Sub(hn::Sub(load_n(d, in + i, left), max), log_sum), d, out + i, left);
    }
  }
}

// One or four vectors of inner positions at once: a whole cache line is used per step of the axis.
template <bool kLog, int kVectors>
HWY_INLINE void strided_block(D d, int64_t length, int64_t stride, const float* in, float* out,
                              size_t left) {
  const size_t lanes = hn::Lanes(d);
  V max[kVectors], sum[kVectors];
  SDX_UNROLL
  for (int v = 0; v < kVectors; ++v) max[v] = hn::Neg(hn::Inf(d)), sum[v] = hn::Zero(d);
  for (int64_t k = 0; k < length; ++k) {
    SDX_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      max[v] = hn::Max(max[v], load_n(d, in + k * stride + v * lanes, left));
    }
  }
  for (int64_t k = 0; k < length; ++k) {
    SDX_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const int64_t at = k * stride + static_cast<int64_t>(v * lanes);
      const V e = exp_nonpositive(d, hn::Sub(load_n(d, in + at, left), max[v]));
      sum[v] = hn::Add(sum[v], e);
      if constexpr (!kLog) store_n(e, d, out + at, left);
    }
  }
  SDX_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    sum[v] = kLog ? log(d, sum[v]) : hn::Div(hn::Set(d, 1.0f), sum[v]);
  }
  for (int64_t k = 0; k < length; ++k) {
    SDX_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const int64_t at = k * stride + static_cast<int64_t>(v * lanes);
      if constexpr (kLog) {
        store_n(hn::Sub(hn::Sub(load_n(d, in + at, left), max[v]), sum[v]), d, out + at, left);
      } else {
        store_n(hn::Mul(load_n(d, out + at, left), sum[v]), d, out + at, left);
      }
    }
  }
}

template <bool kLog>
void strided(int64_t length, int64_t inner, int64_t stride, const float* in, float* out) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + 4 * lanes <= inner; i += 4 * lanes) {
    strided_block<kLog, 4>(d, length, stride, in + i, out + i, static_cast<size_t>(lanes));
  }
  for (; i < inner; i += lanes) {
    strided_block<kLog, 1>(d, length, stride, in + i, out + i, static_cast<size_t>(inner - i));
  }
}

const SoftmaxKernels& softmax_row() {
  static const SoftmaxKernels table{softmax, log_softmax, strided<false>, strided<true>};
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
SDX_KERNEL_TABLE(SoftmaxKernels, softmax_kernels, softmax_row)
}  // namespace sardonyx::kernels
#endif
