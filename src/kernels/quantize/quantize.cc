#include "kernels/quantize/quantize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantize/quantize.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/dispatch.h"
#include "kernels/hwy_compat-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {

using D = hn::ScalableTag<float>;
using D32 = hn::RebindToSigned<D>;
using V = hn::Vec<D>;

HWY_INLINE V load_parameter(const float* values, int64_t step, int64_t i, size_t left) {
  const D d;
  return step == 0 ? hn::Set(d, *values) : load_n(d, values + i, left);
}

template <typename T>
void quantize_row(const float* x, int64_t n, const QuantizeRow& row, T* out) {
  const D d;
  const D32 d32;
  const hn::Rebind<T, D> d8;
  const V low = hn::Set(d, std::is_signed_v<T> ? -128.0f : 0.0f);
  const V high = hn::Set(d, std::is_signed_v<T> ? 127.0f : 255.0f);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; i += lanes) {
    const size_t left = static_cast<size_t>(n - i);
    const V zero = load_parameter(row.zero, row.step, i, left);
    V value = hn::Div(load_n(d, x + i, left), load_parameter(row.scale, row.step, i, left));
    value = hn::IfThenElseZero(hn::Eq(value, value), value);
    // The limits are whole numbers: clamping first gives the same.
    value = clip(value, hn::Sub(low, zero), hn::Sub(high, zero));
    value = hn::Add(round_even(d, value), zero);
    store_n(hn::DemoteTo(d8, hn::ConvertTo(d32, value)), d8, out + i, left);
  }
}

template <typename T>
void dequantize_row(const T* x, int64_t n, const QuantizeRow& row, float* out) {
  const D d;
  const D32 d32;
  const hn::Rebind<T, D> d8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; i += lanes) {
    const size_t left = static_cast<size_t>(n - i);
    const V value = hn::ConvertTo(d, hn::PromoteTo(d32, load_n(d8, x + i, left)));
    const V moved = hn::Sub(value, load_parameter(row.zero, row.step, i, left));
    store_n(hn::Mul(moved, load_parameter(row.scale, row.step, i, left)), d, out + i, left);
  }
}

void quantize(const float* x, int64_t n, const QuantizeRow& row, void* out) {
  if (row.is_signed) return quantize_row(x, n, row, static_cast<int8_t*>(out));
  quantize_row(x, n, row, static_cast<uint8_t*>(out));
}

void dequantize(const void* x, int64_t n, const QuantizeRow& row, float* out) {
  if (row.is_signed) return dequantize_row(static_cast<const int8_t*>(x), n, row, out);
  dequantize_row(static_cast<const uint8_t*>(x), n, row, out);
}

void min_max(const float* x, int64_t n, float* low, float* high) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V lows[4], highs[4];
  SDX_UNROLL
  for (size_t v = 0; v < 4; ++v) {
    lows[v] = hn::Set(d, *low);
    highs[v] = hn::Set(d, *high);
  }
  const auto step = [&](size_t v, V value) HWY_ATTR {
    lows[v] = hn::IfThenElse(hn::Lt(value, lows[v]), value, lows[v]);
    highs[v] = hn::IfThenElse(hn::Gt(value, highs[v]), value, highs[v]);
  };
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    SDX_UNROLL
    for (size_t v = 0; v < 4; ++v) {
      step(v, hn::LoadU(d, x + i + static_cast<int64_t>(v) * lanes));
    }
  }
  for (; i + lanes <= n; i += lanes) step(0, hn::LoadU(d, x + i));
  SDX_UNROLL
  for (size_t v = 1; v < 4; ++v) {
    step(0, lows[v]);
    step(0, highs[v]);
  }
  *low = reduce_min(d, lows[0]);
  *high = reduce_max(d, highs[0]);
  for (; i < n; ++i) {
    if (x[i] < *low) *low = x[i];
    if (x[i] > *high) *high = x[i];
  }
}

const QuantizeKernels& quantize_row_table() {
  static const QuantizeKernels table{quantize, dequantize, min_max};
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
SDX_KERNEL_TABLE(QuantizeKernels, quantize_kernels, quantize_row_table)
}  // namespace sardonyx::kernels
#endif
