#include "kernels/elementwise/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/binary.cc"
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

// The loop of every row. Single values are spread once.
template <class F>
HWY_INLINE void map2(const float* a, int a_step, const float* b, int b_step, float* out, int64_t n,
                     F f) {
  if (n <= 0) return;
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  if (a_step != 0 && b_step != 0) {
    for (; i + lanes <= n; i += lanes) {
      hn::StoreU(f(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, out + i);
    }
  } else if (a_step != 0) {
    const V value = hn::Set(d, *b);
    for (; i + lanes <= n; i += lanes) hn::StoreU(f(d, hn::LoadU(d, a + i), value), d, out + i);
  } else if (b_step != 0) {
    const V value = hn::Set(d, *a);
    for (; i + lanes <= n; i += lanes) hn::StoreU(f(d, value, hn::LoadU(d, b + i)), d, out + i);
  } else {
    const V value = f(d, hn::Set(d, *a), hn::Set(d, *b));
    for (; i < n; i += lanes) store_n(value, d, out + i, static_cast<size_t>(n - i));
    return;
  }
  if (i < n) {
    const size_t left = static_cast<size_t>(n - i);
    const V x = a_step != 0 ? load_n(d, a + i, left) : hn::Set(d, *a);
    const V y = b_step != 0 ? load_n(d, b + i, left) : hn::Set(d, *b);
    store_n(f(d, x, y), d, out + i, left);
  }
}

#define SDX_BINARY(name, expression)                                                               \
  void name##_row(const float* a, int a_step, const float* b, int b_step, float* out, int64_t n) { \
    map2(a, a_step, b, b_step, out, n,                                                             \
         []([[maybe_unused]] D d, V x, [[maybe_unused]] V y) HWY_ATTR { return expression; });     \
  }

SDX_BINARY(add, hn::Add(x, y))
SDX_BINARY(sub, hn::Sub(x, y))
SDX_BINARY(mul, hn::Mul(x, y))
SDX_BINARY(div, hn::Div(x, y))
SDX_BINARY(min, min_nan(x, y))
SDX_BINARY(max, max_nan(x, y))
SDX_BINARY(prelu, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(x, y), x))
SDX_BINARY(cube, hn::Mul(hn::Mul(x, x), x))
SDX_BINARY(square, hn::Mul(x, x))
SDX_BINARY(inverse, hn::Div(hn::Set(d, 1.0f), x))
// pow(-inf, 0.5) = inf and pow(-0, 0.5) = 0, unlike sqrt.
SDX_BINARY(root, hn::IfThenElse(hn::Eq(x, hn::Neg(hn::Inf(d))), hn::Inf(d),
                                hn::Sqrt(hn::Add(x, hn::Zero(d)))))
#undef SDX_BINARY

void pow_row(const float* a, int a_step, const float* b, int b_step, float* out, int64_t n) {
  if (b_step == 0 && n > 0) {
    if (*b == 2.0f) return square_row(a, a_step, b, b_step, out, n);
    if (*b == 0.5f) return root_row(a, a_step, b, b_step, out, n);
    if (*b == 3.0f) return cube_row(a, a_step, b, b_step, out, n);
    if (*b == -1.0f) return inverse_row(a, a_step, b, b_step, out, n);
  }
  // Single operands may lie in the output.
  const float a0 = n > 0 ? *a : 0.0f, b0 = n > 0 ? *b : 0.0f;
  for (int64_t i = 0; i < n; ++i) {
    out[i] = std::pow(a_step != 0 ? a[i] : a0, b_step != 0 ? b[i] : b0);
  }
}

const BinaryKernels& binary_row() {
  // In the order of BinaryOp.
  static const BinaryKernels table{
      {add_row, sub_row, mul_row, div_row, min_row, max_row, pow_row, prelu_row}};
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
SDX_KERNEL_TABLE(BinaryKernels, binary_kernels, binary_row)
}  // namespace sardonyx::kernels
#endif
