// How kernels on blocked data apply an Epilogue's activation: the cheap ones (none, ReLU, clip,
// hard-swish) on registers before the store, by one formula of two parameters; the others, and
// zeros in pad lanes, in a second pass over what was just stored. Both give the bits of
// apply_activation. Included inside foreach_target by kernel sources.
#if defined(SARDONYX_KERNELS_BLOCKED_FUSED_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SARDONYX_KERNELS_BLOCKED_FUSED_ACTIVATION_INL_H_
#undef SARDONYX_KERNELS_BLOCKED_FUSED_ACTIVATION_INL_H_
#else
#define SARDONYX_KERNELS_BLOCKED_FUSED_ACTIVATION_INL_H_
#endif

#include <limits>

#include "kernels/blocked/layout.h"
#include "kernels/math-inl.h"

// Unrolls a loop of constant bounds completely, so that arrays of vectors become registers.
#ifndef SDX_UNROLL
#if defined(__clang__)
#define SDX_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SDX_UNROLL _Pragma("GCC unroll 32")
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {

// Lanes of the vectors that hold channels of a block of width kC.
template <int kC>
inline constexpr int kLanesOf = static_cast<int>(hn::MaxLanes(hn::CappedTag<float, kC>()));

struct FusedActivation {
  bool hard_swish = false;
  bool clamp = false;
  bool second_pass = false;  // the registers got no activation
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

inline FusedActivation fuse_activation(const Epilogue& epilogue) {
  FusedActivation fused;
  switch (epilogue.activation) {
    case Activation::kNone:
      break;
    case Activation::kRelu:
      fused.clamp = true;
      fused.low = 0.0f;
      break;
    case Activation::kHardSwish:
    case Activation::kClip:
      fused.hard_swish = epilogue.activation == Activation::kHardSwish;
      fused.clamp = !fused.hard_swish;
      fused.low = epilogue.alpha;
      fused.high = epilogue.beta;
      break;
    default:
      fused.second_pass = true;
  }
  return fused;
}

// low and high hold the fields of fused.
template <class D, class V>
HWY_INLINE V apply_fused(D d, const FusedActivation& fused, V low, V high, V x) {
  if (!fused.hard_swish) return clip(x, low, high);
  return hn::Mul(x, clip(hn::MulAdd(x, low, high), hn::Zero(d), hn::Set(d, 1.0f)));
}

// Zeros the lanes from pad_from on of consecutive pixels; nothing to do when pad_from is kC.
template <int kC>
HWY_INLINE void zero_pads(int64_t pad_from, int64_t pixels, float* out) {
  if (pad_from >= kC) return;
  const hn::CappedTag<float, kC> d;
  for (int l = 0; l < kC; l += kLanesOf<kC>) {
    const int64_t keep = pad_from - l;
    if (keep >= kLanesOf<kC>) continue;
    const auto mask = hn::FirstN(d, static_cast<size_t>(keep < 0 ? 0 : keep));
    for (int64_t p = 0; p < pixels; ++p) {
      float* v = out + p * kC + l;
      hn::StoreU(hn::IfThenElseZero(mask, hn::LoadU(d, v)), d, v);
    }
  }
}

// The second pass over consecutive pixels of one block: activation when `activate`, then zeros in
// the lanes from pad_from (kC when the block is full).
template <int kC>
HWY_NOINLINE void finish_pixels(const Epilogue& epilogue, bool activate, int64_t pad_from,
                                int64_t pixels, float* out) {
  const hn::CappedTag<float, kC> d;
  if (activate) {
    for (int64_t i = 0; i < pixels * kC; i += kLanesOf<kC>) {
      hn::StoreU(apply_activation(d, epilogue, hn::LoadU(d, out + i)), d, out + i);
    }
  }
  zero_pads<kC>(pad_from, pixels, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#endif  // SARDONYX_KERNELS_BLOCKED_FUSED_ACTIVATION_INL_H_
