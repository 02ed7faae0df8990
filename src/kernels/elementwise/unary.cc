#include "kernels/elementwise/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/unary.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "kernels/dispatch.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// The loop of every row: whole vectors, then the same code on the rest.
template <class F>
HWY_INLINE void map(const float* in, float* out, int64_t n, F f) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(f(d, hn::LoadU(d, in + i)), d, out + i);
  if (i < n) {
    const size_t left = static_cast<size_t>(n - i);
    store_n(f(d, load_n(d, in + i, left)), d, out + i, left);
  }
}

// Sine for kQuadrant 0, cosine for 1: x = j pi/2 + r with |r| <= pi/4, pi/2 in three parts
// (Cephes).
template <int kQuadrant>
HWY_INLINE V sine(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V j = round_even(d, hn::Mul(x, hn::Set(d, 0.63661977236758134f)));
  V r = hn::NegMulAdd(j, hn::Set(d, 1.5703125f), x);
  r = hn::NegMulAdd(j, hn::Set(d, 4.837512969970703125e-4f), r);
  r = hn::NegMulAdd(j, hn::Set(d, 7.549789948768648e-8f), r);
  const V r2 = hn::Mul(r, r);
  V s = hn::Set(d, -1.9515295891e-4f);
  s = hn::MulAdd(s, r2, hn::Set(d, 8.3321608736e-3f));
  s = hn::MulAdd(s, r2, hn::Set(d, -1.6666654611e-1f));
  s = hn::MulAdd(hn::Mul(s, r2), r, r);
  V c = hn::Set(d, 2.443315711809948e-5f);
  c = hn::MulAdd(c, r2, hn::Set(d, -1.388731625493765e-3f));
  c = hn::MulAdd(c, r2, hn::Set(d, 4.166664568298827e-2f));
  c = hn::MulAdd(hn::Mul(c, r2), r2, hn::NegMulAdd(hn::Set(d, 0.5f), r2, hn::Set(d, 1.0f)));
  const auto quadrant = hn::Add(hn::ConvertTo(di, j), hn::Set(di, kQuadrant));
  const auto odd = hn::RebindMask(d, hn::Eq(hn::And(quadrant, hn::Set(di, 1)), hn::Set(di, 1)));
  const V value = hn::IfThenElse(odd, c, s);
  const auto sign = hn::ShiftLeft<30>(hn::And(quadrant, hn::Set(di, 2)));
  return hn::Xor(value, hn::BitCast(d, sign));
}

template <int kQuadrant>
HWY_INLINE V trigonometric(D d, V x) {
  const V result = sine<kQuadrant>(d, x);
  const auto large = hn::Not(hn::Le(hn::Abs(x), hn::Set(d, 8192.0f)));
  if (HWY_LIKELY(hn::AllFalse(d, large))) return result;
  HWY_ALIGN float in[hn::MaxLanes(D())];
  HWY_ALIGN float out[hn::MaxLanes(D())];
  hn::Store(x, d, in);
  hn::Store(result, d, out);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    if (!(std::fabs(in[i]) <= 8192.0f)) out[i] = kQuadrant == 0 ? std::sin(in[i]) : std::cos(in[i]);
  }
  return hn::Load(d, out);
}

// x < 0 ? negative : x, for a negative branch that may be anything where x >= 0.
HWY_INLINE V below_zero(D d, V x, V negative) {
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), negative, x);
}

HWY_INLINE V mish(D d, V x) {
  // tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2); from x = 20 on the factor is 1.
  const V e = exp(d, at_most(x, hn::Set(d, 20.0f)));
  const V p = hn::Mul(e, hn::Add(e, hn::Set(d, 2.0f)));
  return hn::Mul(x, hn::Div(p, hn::Add(p, hn::Set(d, 2.0f))));
}

#define SDX_UNARY(name, expression)                                                     \
  void name##_row(const float* in, float* out, int64_t n, [[maybe_unused]] float alpha, \
                  [[maybe_unused]] float beta) {                                        \
    map(in, out, n, [=]([[maybe_unused]] D d, V x) HWY_ATTR { return expression; });    \
  }

SDX_UNARY(copy, x)
SDX_UNARY(relu, at_least(x, hn::Zero(d)))
SDX_UNARY(leaky_relu, leaky_relu(d, x, alpha))
SDX_UNARY(clip, clip(x, hn::Set(d, alpha), hn::Set(d, beta)))
SDX_UNARY(hard_sigmoid, hard_sigmoid(d, x, alpha, beta))
SDX_UNARY(hard_swish, hn::Mul(x, hard_sigmoid(d, x, alpha, beta)))
SDX_UNARY(sigmoid, sigmoid(d, x))
SDX_UNARY(silu, silu(d, x))
SDX_UNARY(tanh, tanh(d, x))
SDX_UNARY(gelu, gelu(d, x))
SDX_UNARY(gelu_tanh, gelu_tanh(d, x))
SDX_UNARY(abs, hn::Abs(x))
SDX_UNARY(neg, hn::Xor(x, hn::SignBit(d)))
// By Eq: Highway's Ne is false for NaN on some targets.
SDX_UNARY(sign, hn::IfThenElse(hn::Or(hn::Eq(x, hn::Zero(d)), hn::IsNaN(x)),
                               hn::Add(x, hn::Zero(d)), hn::CopySign(hn::Set(d, 1.0f), x)))
SDX_UNARY(floor, hn::Floor(x))
SDX_UNARY(ceil, hn::Ceil(x))
SDX_UNARY(round, round_even(d, x))
SDX_UNARY(reciprocal, hn::Div(hn::Set(d, 1.0f), x))
SDX_UNARY(sqrt, hn::Sqrt(x))
SDX_UNARY(square, hn::Mul(x, x))
SDX_UNARY(exp, exp(d, x))
SDX_UNARY(log, log(d, x))
SDX_UNARY(erf, erf(d, x))
SDX_UNARY(sin, trigonometric<0>(d, x))
SDX_UNARY(cos, trigonometric<1>(d, x))
SDX_UNARY(softplus, softplus(d, x))
SDX_UNARY(softsign, hn::Div(x, hn::Add(hn::Set(d, 1.0f), hn::Abs(x))))
SDX_UNARY(elu, below_zero(d, x, hn::Mul(hn::Set(d, alpha), expm1(d, x))))
SDX_UNARY(selu,
          hn::Mul(hn::Set(d, beta), below_zero(d, x, hn::Mul(hn::Set(d, alpha), expm1(d, x)))))
SDX_UNARY(celu,
          below_zero(d, x, hn::Mul(hn::Set(d, alpha), expm1(d, hn::Div(x, hn::Set(d, alpha))))))
SDX_UNARY(thresholded_relu, hn::IfThenElse(hn::Le(x, hn::Set(d, alpha)), hn::Zero(d), x))
SDX_UNARY(mish, mish(d, x))
#undef SDX_UNARY

const UnaryKernels& unary_row() {
  // In the order of UnaryOp.
  static const UnaryKernels table{{copy_row,
                                   relu_row,
                                   leaky_relu_row,
                                   clip_row,
                                   hard_sigmoid_row,
                                   hard_swish_row,
                                   sigmoid_row,
                                   silu_row,
                                   tanh_row,
                                   gelu_row,
                                   gelu_tanh_row,
                                   abs_row,
                                   neg_row,
                                   sign_row,
                                   floor_row,
                                   ceil_row,
                                   round_row,
                                   reciprocal_row,
                                   sqrt_row,
                                   square_row,
                                   exp_row,
                                   log_row,
                                   erf_row,
                                   sin_row,
                                   cos_row,
                                   softplus_row,
                                   softsign_row,
                                   elu_row,
                                   selu_row,
                                   celu_row,
                                   thresholded_relu_row,
                                   mish_row}};
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
SDX_KERNEL_TABLE(UnaryKernels, unary_kernels, unary_row)
}  // namespace sardonyx::kernels
#endif
