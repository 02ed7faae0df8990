// What Highway 1.0.3 lacks or leaves different between targets: loads and stores of the first n
// lanes that never touch other memory, minimum and maximum with one meaning of NaN, rounding half
// to even, horizontal reductions to a scalar. Included inside foreach_target by kernel sources.
#if defined(SARDONYX_KERNELS_HWY_COMPAT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SARDONYX_KERNELS_HWY_COMPAT_INL_H_
#undef SARDONYX_KERNELS_HWY_COMPAT_INL_H_
#else
#define SARDONYX_KERNELS_HWY_COMPAT_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

// Before a loop of at most 64 turns known at compile time that must leave no loop behind, so that
// arrays of vectors indexed by it live in registers (-O2 alone keeps such loops and spills them).
#ifndef SDX_UNROLL
#if defined(__clang__)
#define SDX_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SDX_UNROLL _Pragma("GCC unroll 64")
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// True where a masked load or store of 4- and 8-byte lanes is one instruction that cannot fault on
// lanes that are switched off.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
inline constexpr bool kMaskedMemory = true;
#else
inline constexpr bool kMaskedMemory = false;
#endif

// Lanes of the first n elements at p, zero elsewhere; reads only those n. 0 <= n; n > Lanes(d)
// reads a full vector.
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_n(D d, const T* HWY_RESTRICT p, size_t n) {
  const size_t lanes = hn::Lanes(d);
  if (n >= lanes) return hn::LoadU(d, p);
  if constexpr (kMaskedMemory && sizeof(T) >= 4) {
    return hn::MaskedLoad(hn::FirstN(d, n), d, p);
  } else {
    HWY_ALIGN T buffer[hn::MaxLanes(D())] = {};
    std::memcpy(buffer, p, n * sizeof(T));
    return hn::Load(d, buffer);
  }
}

// Stores the first n lanes; writes only those n elements.
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE void store_n(hn::Vec<D> v, D d, T* HWY_RESTRICT p, size_t n) {
  const size_t lanes = hn::Lanes(d);
  if (n >= lanes) {
    hn::StoreU(v, d, p);
  } else if constexpr (kMaskedMemory && sizeof(T) >= 4) {
    hn::BlendedStore(v, hn::FirstN(d, n), d, p);
  } else {
    HWY_ALIGN T buffer[hn::MaxLanes(D())];
    hn::Store(v, d, buffer);
    std::memcpy(p, buffer, n * sizeof(T));
  }
}

// x < low ? low : x. A NaN in x passes; a NaN in low is ignored.
template <class V>
HWY_INLINE V at_least(V x, V low) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  return hn::Max(low, x);  // maxps returns its second operand when either is NaN
#else
  return hn::IfThenElse(hn::Lt(x, low), low, x);
#endif
}

// x > high ? high : x. A NaN in x passes; a NaN in high is ignored.
template <class V>
HWY_INLINE V at_most(V x, V high) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  return hn::Min(high, x);
#else
  return hn::IfThenElse(hn::Lt(high, x), high, x);
#endif
}

// at_most(at_least(x, low), high): as numpy's clip, high wins when low > high.
template <class V>
HWY_INLINE V clip(V x, V low, V high) {
  return at_most(at_least(x, low), high);
}

// Maximum and minimum that are NaN when either operand is.
template <class V>
HWY_INLINE V max_nan(V a, V b) {
  return hn::IfThenElse(hn::IsNaN(a), a, at_least(b, a));
}
template <class V>
HWY_INLINE V min_nan(V a, V b) {
  return hn::IfThenElse(hn::IsNaN(a), a, at_most(b, a));
}

// To the nearest integer, halves to even, in the default rounding mode.
template <class D>
HWY_INLINE hn::Vec<D> round_even(D d, hn::Vec<D> v) {
#if HWY_TARGET == HWY_SCALAR
  // Highway's scalar Round is wrong just below one half.
  const auto magnitude = hn::Abs(v);
  const auto magic = hn::Set(d, 8388608.0f);
  const auto rounded = hn::Sub(hn::Add(magnitude, magic), magic);
  return hn::CopySign(hn::IfThenElse(hn::Lt(magnitude, magic), rounded, magnitude), v);
#else
  (void)d;
  return hn::Round(v);
#endif
}

template <class D>
HWY_INLINE hn::TFromD<D> reduce_sum(D d, hn::Vec<D> v) {
  return hn::GetLane(hn::SumOfLanes(d, v));
}

// The largest or smallest lane; unspecified when a lane is NaN.
template <class D>
HWY_INLINE hn::TFromD<D> reduce_max(D d, hn::Vec<D> v) {
  return hn::GetLane(hn::MaxOfLanes(d, v));
}
template <class D>
HWY_INLINE hn::TFromD<D> reduce_min(D d, hn::Vec<D> v) {
  return hn::GetLane(hn::MinOfLanes(d, v));
}

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#endif  // SARDONYX_KERNELS_HWY_COMPAT_INL_H_
