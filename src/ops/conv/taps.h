// The inner loop of the plain N-d convolutions: one weight applied to one plane, along every axis
// at once. Correct for any rank, stride, dilation and padding; the fast float road is the blocked
// one that the CPU provider lowers to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "base/small_vector.h"
#include "ops/axpy.h"

namespace sardonyx {

// One axis: element j of the dense plane meets element j * stride + k * dilation - pad of the
// strided plane, for kernel position k. A convolution's dense plane is its output, a transposed
// convolution's its input.
struct TapAxis {
  int64_t dense = 1;
  int64_t strided = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad = 0;
};
using TapAxes = SmallVector<TapAxis, 4>;

// Axes without any window become one.
inline TapAxes merge_plain_axes(const TapAxes& axes) {
  int64_t product = 1;
  for (const TapAxis& axis : axes) {
    if (axis.kernel != 1 || axis.stride != 1 || axis.pad != 0 || axis.dense != axis.strided) {
      return axes;
    }
    product *= axis.dense;
  }
  TapAxes merged;
  merged.push_back({product, product, 1, 1, 1, 0});
  return merged;
}

// kScatter: strided += weight * dense; otherwise dense += weight * strided. `tap` counts kernel
// positions row-major; `taps` is the product of the kernel sizes from `axis` on.
template <typename T, bool kScatter>
void accumulate_tap(const TapAxes& axes, size_t axis, int64_t tap, int64_t taps, T weight,
                    std::conditional_t<kScatter, const T, T>* dense,
                    std::conditional_t<kScatter, T, const T>* strided) {
  const TapAxis& a = axes[axis];
  const int64_t inner_taps = taps / a.kernel;
  const int64_t offset = tap / inner_taps * a.dilation - a.pad;
  const int64_t begin = offset >= 0 ? 0 : (-offset + a.stride - 1) / a.stride;
  const int64_t last = a.strided - 1 - offset;  // highest multiple of stride that is inside
  const int64_t end = last < 0 ? 0 : std::min(a.dense, last / a.stride + 1);
  if (axis + 1 == axes.size()) {
    if (a.stride == 1) {
      if (begin >= end) return;
      if constexpr (kScatter) {
        axpy(end - begin, weight, dense + begin, strided + begin + offset);
      } else {
        axpy(end - begin, weight, strided + begin + offset, dense + begin);
      }
      return;
    }
    for (int64_t j = begin; j < end; ++j) {
      if constexpr (kScatter) {
        strided[j * a.stride + offset] += weight * dense[j];
      } else {
        dense[j] += weight * strided[j * a.stride + offset];
      }
    }
    return;
  }
  int64_t dense_step = 1, strided_step = 1;
  for (size_t i = axis + 1; i < axes.size(); ++i) {
    dense_step *= axes[i].dense;
    strided_step *= axes[i].strided;
  }
  for (int64_t j = begin; j < end; ++j) {
    accumulate_tap<T, kScatter>(axes, axis + 1, tap % inner_taps, inner_taps, weight,
                                dense + j * dense_step,
                                strided + (j * a.stride + offset) * strided_step);
  }
}

}  // namespace sardonyx
