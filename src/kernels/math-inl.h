// Vector forms of the elementary functions, float32, and the activations of an Epilogue. Every
// function is written once for all targets; a lane's result depends on that lane only. Error bounds
// are stated in units in the last place (ULP) of the float result and held by elementwise tests.
// Included inside foreach_target by kernel sources.
#if defined(SARDONYX_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SARDONYX_KERNELS_MATH_INL_H_
#undef SARDONYX_KERNELS_MATH_INL_H_
#else
#define SARDONYX_KERNELS_MATH_INL_H_
#endif

#include "kernels/epilogue.h"
#include "kernels/hwy_compat-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {

// 2^n as a float for -126 <= n <= 127.
template <class D, class VI>
HWY_INLINE hn::Vec<D> power_of_two(D d, VI n) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
}

// Splits x = n ln 2 + r with |r| <= 0.3466, for |x| < 2^15. The first part of ln 2 has 9 bits, so
// its product with n is exact with and without FMA.
template <class D, class V>
HWY_INLINE V reduce_ln2(D d, V x, V* n) {
  *n = round_even(d, hn::Mul(x, hn::Set(d, 1.44269504088896341f)));
  const V r = hn::NegMulAdd(*n, hn::Set(d, 0.693359375f), x);
  return hn::NegMulAdd(*n, hn::Set(d, -2.12194440e-4f), r);
}

// (exp(r) - 1 - r) / r^2 on |r| <= 0.3466; coefficients of Cephes expf.
template <class D, class V>
HWY_INLINE V exp_tail(D d, V r) {
  V p = hn::Set(d, 1.9875691500e-4f);
  p = hn::MulAdd(p, r, hn::Set(d, 1.3981999507e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 8.3334519073e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 4.1665795894e-2f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.6666665459e-1f));
  return hn::MulAdd(p, r, hn::Set(d, 5.0000001201e-1f));
}

// e^x, subnormal results included. 2 ULP.
template <class D, class V>
HWY_INLINE V exp(D d, V x) {
  const hn::RebindToSigned<D> di;
  x = clip(x, hn::Set(d, -105.0f), hn::Set(d, 89.0f));
  V n;
  const V r = reduce_ln2(d, x, &n);
  const V p = hn::Add(hn::MulAdd(hn::Mul(r, r), exp_tail(d, r), r), hn::Set(d, 1.0f));
  // Two factors: n reaches from -151 to 128, beyond what one float exponent holds.
  const auto whole = hn::ConvertTo(di, n);
  const auto half = hn::ShiftRight<1>(whole);
  return hn::Mul(hn::Mul(p, power_of_two(d, half)), power_of_two(d, hn::Sub(whole, half)));
}

// e^x for x <= 0; results under 2^-126 are 0. 2 ULP. For sums of exponentials (softmax).
template <class D, class V>
HWY_INLINE V exp_nonpositive(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V low = hn::Set(d, -87.3f);
  V n;
  const V r = reduce_ln2(d, at_least(x, low), &n);
  const V p = hn::Add(hn::MulAdd(hn::Mul(r, r), exp_tail(d, r), r), hn::Set(d, 1.0f));
  const V result = hn::Mul(p, power_of_two(d, hn::ConvertTo(di, n)));
  return hn::IfThenZeroElse(hn::Lt(x, low), result);
}

// e^x - 1 without cancellation near 0. 3 ULP.
template <class D, class V>
HWY_INLINE V expm1(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V one = hn::Set(d, 1.0f);
  const V input = x;
  x = clip(x, hn::Set(d, -30.0f), hn::Set(d, 89.0f));
  V n;
  const V r = reduce_ln2(d, x, &n);
  const V p = hn::MulAdd(hn::Mul(r, r), exp_tail(d, r), r);
  const auto whole = hn::ConvertTo(di, n);
  const auto half = hn::ShiftRight<1>(whole);
  const V scale_low = power_of_two(d, half);
  const V scale_high = power_of_two(d, hn::Sub(whole, half));
  // 2^n p + (2^n - 1); the second term is exact for -24 <= n <= 24 and needs no exactness beyond.
  const V scaled = hn::Mul(hn::Mul(hn::Add(p, one), scale_low), scale_high);
  const V scale = hn::Mul(scale_low, scale_high);
  const V small = hn::MulAdd(scale, p, hn::Sub(scale, one));
  const V result =
      hn::IfThenElse(hn::Lt(hn::Abs(n), hn::Set(d, 25.0f)), small, hn::Sub(scaled, one));
  return hn::IfThenElse(hn::Eq(input, hn::Zero(d)), input, result);
}

// Natural logarithm, subnormal arguments included. 2 ULP. log(0) = -inf, log(x < 0) = NaN.
template <class D, class V>
HWY_INLINE V log(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V one = hn::Set(d, 1.0f);
  const auto subnormal = hn::Lt(x, hn::Set(d, 1.17549435e-38f));
  const V scaled = hn::IfThenElse(subnormal, hn::Mul(x, hn::Set(d, 8388608.0f)), x);
  // x = 2^e m with m in [sqrt(1/2), sqrt(2)).
  const auto root_half = hn::Set(di, 0x3f3504f3);
  const auto bits = hn::Sub(hn::BitCast(di, scaled), root_half);
  V e = hn::ConvertTo(d, hn::ShiftRight<23>(bits));
  e = hn::Sub(e, hn::IfThenElseZero(subnormal, hn::Set(d, 23.0f)));
  const V m = hn::BitCast(d, hn::Add(hn::And(bits, hn::Set(di, 0x007fffff)), root_half));
  const V f = hn::Sub(m, one);
  // log(1 + f) = f - f^2/2 + f^3 p(f); coefficients of Cephes logf.
  V p = hn::Set(d, 7.0376836292e-2f);
  p = hn::MulAdd(p, f, hn::Set(d, -1.1514610310e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.1676998740e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, -1.2420140846e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.4249322787e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, -1.6668057665e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 2.0000714765e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, -2.4999993993e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 3.3333331174e-1f));
  const V f2 = hn::Mul(f, f);
  V y = hn::Mul(hn::Mul(f2, f), p);
  y = hn::MulAdd(e, hn::Set(d, -2.12194440e-4f), y);
  y = hn::NegMulAdd(hn::Set(d, 0.5f), f2, y);
  V result = hn::MulAdd(e, hn::Set(d, 0.693359375f), hn::Add(f, y));
  const V inf = hn::Inf(d);
  result = hn::IfThenElse(hn::Eq(x, inf), inf, result);
  result = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(inf), result);
  // Negative and NaN arguments.
  return hn::IfThenElse(hn::Ge(x, hn::Zero(d)), result, hn::NaN(d));
}

// log(1 + x) for 0 <= x <= 1. 3 ULP.
template <class D, class V>
HWY_INLINE V log1p_unit(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V u = hn::Add(one, x);
  const V rounding = hn::Sub(x, hn::Sub(u, one));
  return hn::Add(log(d, u), hn::Div(rounding, u));
}

// log(1 + e^x). 4 ULP.
template <class D, class V>
HWY_INLINE V softplus(D d, V x) {
  const V tail = log1p_unit(d, exp(d, hn::Neg(hn::Abs(x))));
  return hn::Add(at_least(x, hn::Zero(d)), tail);
}

// 1 / (1 + e^-x). 4 ULP; 0 where the result would be subnormal.
template <class D, class V>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, exp(d, hn::Neg(x))));
}

// x / (1 + e^-x). 4 ULP. silu(-inf) = NaN, as the definition x * sigmoid(x) gives.
template <class D, class V>
HWY_INLINE V silu(D d, V x) {
  return hn::Div(x, hn::Add(hn::Set(d, 1.0f), exp(d, hn::Neg(x))));
}

// Hyperbolic tangent: odd rational of degree 13/6, coefficients as in Eigen. 6 ULP.
template <class D, class V>
HWY_INLINE V tanh(D d, V x) {
  const V limit = hn::Set(d, 7.90531110763549805f);
  const V z = clip(x, hn::Neg(limit), limit);
  const V z2 = hn::Mul(z, z);
  V p = hn::Set(d, -2.76076847742355e-16f);
  p = hn::MulAdd(p, z2, hn::Set(d, 2.00018790482477e-13f));
  p = hn::MulAdd(p, z2, hn::Set(d, -8.60467152213735e-11f));
  p = hn::MulAdd(p, z2, hn::Set(d, 5.12229709037114e-08f));
  p = hn::MulAdd(p, z2, hn::Set(d, 1.48572235717979e-05f));
  p = hn::MulAdd(p, z2, hn::Set(d, 6.37261928875436e-04f));
  p = hn::MulAdd(p, z2, hn::Set(d, 4.89352455891786e-03f));
  V q = hn::Set(d, 1.19825839466702e-06f);
  q = hn::MulAdd(q, z2, hn::Set(d, 1.18534705686654e-04f));
  q = hn::MulAdd(q, z2, hn::Set(d, 2.26843463243900e-03f));
  q = hn::MulAdd(q, z2, hn::Set(d, 4.89352518554385e-03f));
  const V result = hn::Div(hn::Mul(z, p), q);
  const V magnitude = hn::Abs(x);
  const V saturated = hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, 9.1f)),
                                     hn::CopySign(hn::Set(d, 1.0f), x), result);
  return hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0.0004f)), x, saturated);
}

// Error function: odd rational of degree 13/8, coefficients as in Eigen. Absolute error 4e-7,
// exactly +-1 from |x| = 4.
template <class D, class V>
HWY_INLINE V erf(D d, V x) {
  const V limit = hn::Set(d, 4.0f);
  const V z = clip(x, hn::Neg(limit), limit);
  const V z2 = hn::Mul(z, z);
  V p = hn::Set(d, -2.72614225801306e-10f);
  p = hn::MulAdd(p, z2, hn::Set(d, 2.77068142495902e-08f));
  p = hn::MulAdd(p, z2, hn::Set(d, -2.10102402082508e-06f));
  p = hn::MulAdd(p, z2, hn::Set(d, -5.69250639462346e-05f));
  p = hn::MulAdd(p, z2, hn::Set(d, -7.34990630326855e-04f));
  p = hn::MulAdd(p, z2, hn::Set(d, -2.95459980854025e-03f));
  p = hn::MulAdd(p, z2, hn::Set(d, -1.60960333262415e-02f));
  V q = hn::Set(d, -1.45660718464996e-05f);
  q = hn::MulAdd(q, z2, hn::Set(d, -2.13374055278905e-04f));
  q = hn::MulAdd(q, z2, hn::Set(d, -1.68282697438203e-03f));
  q = hn::MulAdd(q, z2, hn::Set(d, -7.37332916720468e-03f));
  q = hn::MulAdd(q, z2, hn::Set(d, -1.42647390514189e-02f));
  const V result = hn::Div(hn::Mul(z, p), q);
  return hn::IfThenElse(hn::Ge(hn::Abs(x), limit), hn::CopySign(hn::Set(d, 1.0f), x), result);
}

// 0.5 x (1 + erf(x / sqrt 2)). Absolute error 4e-7 max(1, |x|).
template <class D, class V>
HWY_INLINE V gelu(D d, V x) {
  const V half = hn::Mul(x, hn::Set(d, 0.5f));
  return hn::MulAdd(half, erf(d, hn::Mul(x, hn::Set(d, 0.70710678118654752f))), half);
}

// 0.5 x (1 + tanh(u)) = x / (1 + e^-2u), u = sqrt(2/pi) (x + 0.044715 x^3). Relative error
// 2e-6 + 1.2e-7 |2u|.
template <class D, class V>
HWY_INLINE V gelu_tanh(D d, V x) {
  const V cubic = hn::MulAdd(hn::Mul(x, x), hn::Set(d, -2.0f * 0.79788456080286536f * 0.044715f),
                             hn::Set(d, -2.0f * 0.79788456080286536f));
  return hn::Div(x, hn::Add(hn::Set(d, 1.0f), exp(d, hn::Mul(cubic, x))));
}

template <class D, class V>
HWY_INLINE V hard_sigmoid(D d, V x, float alpha, float beta) {
  return clip(hn::MulAdd(x, hn::Set(d, alpha), hn::Set(d, beta)), hn::Zero(d), hn::Set(d, 1.0f));
}

template <class D, class V>
HWY_INLINE V leaky_relu(D d, V x, float alpha) {
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(x, hn::Set(d, alpha)), x);
}

// The activations that are too long to inline at every use.
template <class D, class V>
HWY_NOINLINE V apply_transcendental(D d, Activation activation, V x) {
  switch (activation) {
    case Activation::kSigmoid:
      return sigmoid(d, x);
    case Activation::kSilu:
      return silu(d, x);
    case Activation::kTanh:
      return tanh(d, x);
    case Activation::kGelu:
      return gelu(d, x);
    case Activation::kGeluTanh:
      return gelu_tanh(d, x);
    default:
      return x;
  }
}

// The activation of an epilogue on one vector. Meant for the end of a long loop: the choice is made
// per call, and transcendental activations are one call away.
template <class D, class V>
HWY_INLINE V apply_activation(D d, const Epilogue& epilogue, V x) {
  switch (epilogue.activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return at_least(x, hn::Zero(d));
    case Activation::kLeakyRelu:
      return leaky_relu(d, x, epilogue.alpha);
    case Activation::kClip:
      return clip(x, hn::Set(d, epilogue.alpha), hn::Set(d, epilogue.beta));
    case Activation::kHardSigmoid:
      return hard_sigmoid(d, x, epilogue.alpha, epilogue.beta);
    case Activation::kHardSwish:
      return hn::Mul(x, hard_sigmoid(d, x, epilogue.alpha, epilogue.beta));
    default:
      return apply_transcendental(d, epilogue.activation, x);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#endif  // SARDONYX_KERNELS_MATH_INL_H_
