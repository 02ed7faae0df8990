#include "kernels/blocked/blocked.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/blocked/blocked.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/blocked/fused_activation-inl.h"
#include "kernels/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {

template <BlockedBinary kOp, class V>
HWY_INLINE V apply_binary(V a, V b) {
  if constexpr (kOp == BlockedBinary::kAdd) return hn::Add(a, b);
  if constexpr (kOp == BlockedBinary::kSub) return hn::Sub(a, b);
  if constexpr (kOp == BlockedBinary::kReverseSub) return hn::Sub(b, a);
  if constexpr (kOp == BlockedBinary::kMul) return hn::Mul(a, b);
  if constexpr (kOp == BlockedBinary::kDiv) return hn::Div(a, b);
  if constexpr (kOp == BlockedBinary::kReverseDiv) return hn::Div(b, a);
}

// How operand b moves from pixel to pixel.
enum class Walk { kFull, kPerPlane, kPerPixel };

// Consecutive pixels of one plane.
struct Span {
  const float* a;
  const float* b;
  float* output;
  int64_t pixels;
  FusedActivation fused;
};

template <int kC, BlockedBinary kOp, Walk kWalk>
HWY_NOINLINE void binary_span(const Span& s) {
  const hn::CappedTag<float, kC> d;
  const FusedActivation fused = s.fused;
  const auto low = hn::Set(d, fused.low), high = hn::Set(d, fused.high);
  const float* const b = s.b;
  for (int64_t p = 0; p < s.pixels; ++p) {
    for (int64_t l = 0; l < kC; l += kLanesOf<kC>) {
      const auto y = kWalk == Walk::kPerPixel
                         ? hn::Set(d, b[p])
                         : hn::LoadU(d, b + (kWalk == Walk::kFull ? p * kC : 0) + l);
      const auto x = apply_binary<kOp>(hn::LoadU(d, s.a + p * kC + l), y);
      hn::StoreU(apply_fused(d, fused, low, high, x), d, s.output + p * kC + l);
    }
  }
}

using SpanFunction = void (*)(const Span&);

template <int kC, Walk kWalk>
SpanFunction choose_span(BlockedBinary op) {
  switch (op) {
    case BlockedBinary::kAdd:
      return binary_span<kC, BlockedBinary::kAdd, kWalk>;
    case BlockedBinary::kSub:
      return binary_span<kC, BlockedBinary::kSub, kWalk>;
    case BlockedBinary::kReverseSub:
      return binary_span<kC, BlockedBinary::kReverseSub, kWalk>;
    case BlockedBinary::kMul:
      return binary_span<kC, BlockedBinary::kMul, kWalk>;
    case BlockedBinary::kDiv:
      return binary_span<kC, BlockedBinary::kDiv, kWalk>;
    case BlockedBinary::kReverseDiv:
      break;
  }
  return binary_span<kC, BlockedBinary::kReverseDiv, kWalk>;
}

// Pixels between the two passes of an activation that is not fused: small enough for L1.
inline constexpr int64_t kChunk = 128;

template <int kC>
void binary(const BlockedBinaryArgs& args, const BlockedRange& range) {
  const SpanFunction run =
      args.operand == BlockedOperand::kFull    ? choose_span<kC, Walk::kFull>(args.op)
      : args.operand == BlockedOperand::kPixel ? choose_span<kC, Walk::kPerPixel>(args.op)
                                               : choose_span<kC, Walk::kPerPlane>(args.op);
  const int64_t blocks = block_count(args.channels, kC);
  float scalar[kC];
  if (args.operand == BlockedOperand::kScalar) std::fill_n(scalar, kC, *args.b);
  Span span;
  span.fused = fuse_activation(args.epilogue);
  for (int64_t plane = range.plane_begin; plane < range.plane_end; ++plane) {
    const int64_t n = plane / blocks, block = plane % blocks;
    const int64_t pad_from = std::min<int64_t>(args.channels - block * kC, kC);
    for (int64_t begin = range.pixel_begin; begin < range.pixel_end; begin += kChunk) {
      const int64_t offset = (plane * args.pixels + begin) * kC;
      span.a = args.a + offset;
      span.output = args.output + offset;
      span.pixels = std::min(kChunk, range.pixel_end - begin);
      switch (args.operand) {
        case BlockedOperand::kFull:
          span.b = args.b + offset;
          break;
        case BlockedOperand::kChannel:
          span.b = args.b + plane * kC;
          break;
        case BlockedOperand::kChannelShared:
          span.b = args.b + block * kC;
          break;
        case BlockedOperand::kPixel:
          span.b = args.b + n * args.pixels + begin;
          break;
        case BlockedOperand::kScalar:
          span.b = scalar;
          break;
      }
      run(span);
      if (span.fused.second_pass || pad_from < kC) {
        finish_pixels<kC>(args.epilogue, span.fused.second_pass, pad_from, span.pixels,
                          span.output);
      }
    }
  }
}

void binary_any_block(const BlockedBinaryArgs& args, const BlockedRange& range) {
  switch (args.block) {
    case 4:
      return binary<4>(args, range);
    case 8:
      return binary<8>(args, range);
    default:
      return binary<16>(args, range);
  }
}

template <class Function>
HWY_INLINE void map_floats(const float* in, float* out, int64_t count, Function function) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(function(hn::LoadU(d, in + i)), d, out + i);
  if (i < count) {
    const size_t left = static_cast<size_t>(count - i);
    store_n(function(load_n(d, in + i, left)), d, out + i, left);
  }
}

// One loop per activation.
HWY_NOINLINE void activate_floats(const Epilogue& e, const float* in, float* out, int64_t count) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const Epilogue epilogue = e;
  switch (epilogue.activation) {
    case Activation::kSigmoid:
      return map_floats(in, out, count, [&](V x) HWY_ATTR { return sigmoid(d, x); });
    case Activation::kSilu:
      return map_floats(in, out, count, [&](V x) HWY_ATTR { return silu(d, x); });
    case Activation::kTanh:
      return map_floats(in, out, count, [&](V x) HWY_ATTR { return tanh(d, x); });
    case Activation::kGelu:
      return map_floats(in, out, count, [&](V x) HWY_ATTR { return gelu(d, x); });
    case Activation::kGeluTanh:
      return map_floats(in, out, count, [&](V x) HWY_ATTR { return gelu_tanh(d, x); });
    default:
      return map_floats(in, out, count,
                        [&](V x) HWY_ATTR { return apply_activation(d, epilogue, x); });
  }
}

template <int kC>
void zero_plane_pads(const BlockedActivationArgs& args, int64_t plane, const BlockedRange& range) {
  const int64_t blocks = block_count(args.channels, kC);
  const int64_t pad_from = std::min<int64_t>(args.channels - plane % blocks * kC, kC);
  zero_pads<kC>(pad_from, range.pixel_end - range.pixel_begin,
                args.output + (plane * args.pixels + range.pixel_begin) * kC);
}

void activation(const BlockedActivationArgs& args, const BlockedRange& range) {
  const int64_t pixels = range.pixel_end - range.pixel_begin;
  for (int64_t plane = range.plane_begin; plane < range.plane_end; ++plane) {
    const int64_t offset = (plane * args.pixels + range.pixel_begin) * args.block;
    activate_floats(args.epilogue, args.input + offset, args.output + offset, pixels * args.block);
    if (args.block == 4) zero_plane_pads<4>(args, plane, range);
    if (args.block == 8) zero_plane_pads<8>(args, plane, range);
    if (args.block == 16) zero_plane_pads<16>(args, plane, range);
  }
}

const BlockedKernels& blocked_row() {
  static constexpr BlockedKernels row = {binary_any_block, activation};
  return row;
}

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
SDX_KERNEL_TABLE(BlockedKernels, blocked_kernels, blocked_row)
}  // namespace sardonyx::kernels
#endif
