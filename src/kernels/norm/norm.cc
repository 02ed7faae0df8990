#include "kernels/norm/norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm/norm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "kernels/dispatch.h"
#include "kernels/hwy_compat-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Calls f(i, left, slot) for every vector of a row: left lanes of it are valid, slot picks one of
// four partial sums. Four slots hide the latency of the additions.
template <class F>
HWY_INLINE void for_vectors(D d, int64_t n, F f) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const size_t full = hn::Lanes(d);
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    f(i, full, hwy::SizeTag<0>());
    f(i + lanes, full, hwy::SizeTag<1>());
    f(i + 2 * lanes, full, hwy::SizeTag<2>());
    f(i + 3 * lanes, full, hwy::SizeTag<3>());
  }
  for (; i + lanes <= n; i += lanes) f(i, full, hwy::SizeTag<0>());
  if (i < n) f(i, static_cast<size_t>(n - i), hwy::SizeTag<1>());
}

struct Sums {
  V s0, s1, s2, s3;
};
HWY_INLINE Sums zero_sums(D d) {
  const V zero = hn::Zero(d);
  return {zero, zero, zero, zero};
}
template <size_t kSlot>
HWY_INLINE V& slot(Sums& sums, hwy::SizeTag<kSlot>) {
  if constexpr (kSlot == 0) return sums.s0;
  if constexpr (kSlot == 1) return sums.s1;
  if constexpr (kSlot == 2) return sums.s2;
  return sums.s3;
}
HWY_INLINE float total(D d, const Sums& s) {
  return reduce_sum(d, hn::Add(hn::Add(s.s0, s.s1), hn::Add(s.s2, s.s3)));
}

// x = in + residual + residual_bias of one row.
HWY_INLINE void add_residual(D d, const NormArgs& args, int64_t row, float* x) {
  const float* in = args.in + row * args.in_stride;
  const float* residual = args.residual + row * args.residual_stride;
  for_vectors(d, args.columns, [&](int64_t i, size_t left, auto) HWY_ATTR {
    V v = hn::Add(load_n(d, in + i, left), load_n(d, residual + i, left));
    if (args.residual_bias != nullptr) v = hn::Add(v, load_n(d, args.residual_bias + i, left));
    store_n(v, d, x + i, left);
  });
}

template <bool kMean>
void normalize(const NormArgs& args) {
  if (args.columns <= 0) return;
  const D d;
  const float count = static_cast<float>(args.columns);
  for (int64_t row = 0; row < args.rows; ++row) {
    float* out = args.out + row * args.out_stride;
    const float* x = args.in + row * args.in_stride;
    if (args.residual != nullptr || args.sum != nullptr) {
      float* sum = args.sum != nullptr ? args.sum + row * args.out_stride : out;
      if (args.residual != nullptr) {
        add_residual(d, args, row, sum);
      } else {
        for_vectors(d, args.columns, [&](int64_t i, size_t left, auto) HWY_ATTR {
          store_n(load_n(d, x + i, left), d, sum + i, left);
        });
      }
      x = sum;
    }
    float mean = 0;
    if constexpr (kMean) {
      Sums sums = zero_sums(d);
      for_vectors(d, args.columns, [&](int64_t i, size_t left, auto k) HWY_ATTR {
        V& s = slot(sums, k);
        s = hn::Add(s, load_n(d, x + i, left));
      });
      mean = total(d, sums) / count;
      if (args.mean != nullptr) args.mean[row] = mean;
    }
    const V center = hn::Set(d, mean);
    Sums sums = zero_sums(d);
    for_vectors(d, args.columns, [&](int64_t i, size_t left, auto k) HWY_ATTR {
      V& s = slot(sums, k);
      V v = load_n(d, x + i, left);
      if constexpr (kMean) {
        v = hn::Sub(v, center);
        if (left < hn::Lanes(d)) v = hn::IfThenElseZero(hn::FirstN(d, left), v);
      }
      s = hn::MulAdd(v, v, s);
    });
    const float inv_std = 1.0f / std::sqrt(total(d, sums) / count + args.epsilon);
    if (args.inv_std != nullptr) args.inv_std[row] = inv_std;
    const V factor = hn::Set(d, inv_std);
    const float* scale = args.scale;
    const float* bias = args.bias;
    const auto normal = [&](int64_t i, size_t left) HWY_ATTR {
      V v = load_n(d, x + i, left);
      if constexpr (kMean) v = hn::Sub(v, center);
      return hn::Mul(v, factor);
    };
    if (scale != nullptr && bias != nullptr) {
      for_vectors(d, args.columns, [&](int64_t i, size_t left, auto) HWY_ATTR {
        const V v =
            hn::MulAdd(normal(i, left), load_n(d, scale + i, left), load_n(d, bias + i, left));
        store_n(v, d, out + i, left);
      });
    } else {
      for_vectors(d, args.columns, [&](int64_t i, size_t left, auto) HWY_ATTR {
        V v = normal(i, left);
        if (scale != nullptr) v = hn::Mul(v, load_n(d, scale + i, left));
        if (bias != nullptr) v = hn::Add(v, load_n(d, bias + i, left));
        store_n(v, d, out + i, left);
      });
    }
  }
}

const NormKernels& norm_row() {
  static const NormKernels table{normalize<true>, normalize<false>};
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
SDX_KERNEL_TABLE(NormKernels, norm_kernels, norm_row)
}  // namespace sardonyx::kernels
#endif
