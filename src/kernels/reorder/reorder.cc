#include "kernels/reorder/reorder.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reorder/reorder.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/dispatch.h"
#include "kernels/hwy_compat-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
inline constexpr int64_t kTile = 4;

using D4 = hn::CappedTag<float, 4>;
using V4 = hn::Vec<D4>;

HWY_INLINE void transpose_4x4(V4* v) {
  const D4 d;
  const V4 ab_low = hn::InterleaveLower(d, v[0], v[1]),
           ab_high = hn::InterleaveUpper(d, v[0], v[1]);
  const V4 cd_low = hn::InterleaveLower(d, v[2], v[3]),
           cd_high = hn::InterleaveUpper(d, v[2], v[3]);
  v[0] = hn::ConcatLowerLower(d, cd_low, ab_low);
  v[1] = hn::ConcatUpperUpper(d, cd_low, ab_low);
  v[2] = hn::ConcatLowerLower(d, cd_high, ab_high);
  v[3] = hn::ConcatUpperUpper(d, cd_high, ab_high);
}

// Four rows of four floats at `in`, those past `rows` taken as zeros, become four columns at `out`.
HWY_INLINE void transpose_in(const float* in, int64_t in_stride, int64_t rows, float* out,
                             int64_t out_stride) {
  const D4 d;
  V4 v[4];
  for (int64_t i = 0; i < 4; ++i) v[i] = i < rows ? hn::LoadU(d, in + i * in_stride) : hn::Zero(d);
  transpose_4x4(v);
  for (int64_t i = 0; i < 4; ++i) hn::StoreU(v[i], d, out + i * out_stride);
}

// The same the other way: rows past `rows` of the result are not stored.
HWY_INLINE void transpose_out(const float* in, int64_t in_stride, float* out, int64_t out_stride,
                              int64_t rows) {
  const D4 d;
  V4 v[4];
  for (int64_t i = 0; i < 4; ++i) v[i] = hn::LoadU(d, in + i * in_stride);
  transpose_4x4(v);
  for (int64_t i = 0; i < 4; ++i) {
    if (i < rows) hn::StoreU(v[i], d, out + i * out_stride);
  }
}
#else
inline constexpr int64_t kTile = 1;

HWY_INLINE void transpose_in(const float* in, int64_t, int64_t rows, float* out, int64_t) {
  *out = rows > 0 ? *in : 0.0f;
}
HWY_INLINE void transpose_out(const float* in, int64_t, float* out, int64_t, int64_t rows) {
  if (rows > 0) *out = *in;
}
#endif

// One plane of a reorder: channels of the block, pixels [begin, end).
struct Plane {
  const float* input;
  float* output;
  int64_t channels;  // valid ones of the block
  int64_t begin, end;
};

template <int kC>
void plane_from_nchw(const ReorderArgs& args, const Plane& p) {
  int64_t pixel = p.begin;
  for (; pixel + kTile <= p.end; pixel += kTile) {
    for (int64_t ch = 0; ch < kC; ch += kTile) {
      transpose_in(p.input + std::min(ch, p.channels - 1) * args.pixels + pixel, args.pixels,
                   p.channels - ch, p.output + pixel * kC + ch, kC);
    }
  }
  for (; pixel < p.end; ++pixel) {
    for (int64_t ch = 0; ch < kC; ++ch) {
      p.output[pixel * kC + ch] = ch < p.channels ? p.input[ch * args.pixels + pixel] : 0.0f;
    }
  }
}

template <int kC>
void plane_to_nchw(const ReorderArgs& args, const Plane& p) {
  int64_t pixel = p.begin;
  for (; pixel + kTile <= p.end; pixel += kTile) {
    for (int64_t ch = 0; ch < p.channels; ch += kTile) {
      transpose_out(p.input + pixel * kC + ch, kC, p.output + ch * args.pixels + pixel, args.pixels,
                    p.channels - ch);
    }
  }
  for (; pixel < p.end; ++pixel) {
    for (int64_t ch = 0; ch < p.channels; ++ch) {
      p.output[ch * args.pixels + pixel] = p.input[pixel * kC + ch];
    }
  }
}

template <int kC>
void plane_from_nhwc(const ReorderArgs& args, const Plane& p) {
  const hn::CappedTag<float, kC> d;
  for (int64_t pixel = p.begin; pixel < p.end; ++pixel) {
    for (int64_t l = 0; l < kC; l += static_cast<int64_t>(hn::Lanes(d))) {
      const int64_t left = std::max<int64_t>(p.channels - l, 0);
      hn::StoreU(load_n(d, p.input + pixel * args.channels + l, static_cast<size_t>(left)), d,
                 p.output + pixel * kC + l);
    }
  }
}

template <int kC>
void plane_to_nhwc(const ReorderArgs& args, const Plane& p) {
  const hn::CappedTag<float, kC> d;
  for (int64_t pixel = p.begin; pixel < p.end; ++pixel) {
    for (int64_t l = 0; l < p.channels; l += static_cast<int64_t>(hn::Lanes(d))) {
      store_n(hn::LoadU(d, p.input + pixel * kC + l), d, p.output + pixel * args.channels + l,
              static_cast<size_t>(p.channels - l));
    }
  }
}

enum class Direction { kFromNchw, kToNchw, kFromNhwc, kToNhwc };

// Pixels of all planes before the next pixels: rows of NHWC hold several planes.
inline constexpr int64_t kChunk = 64;

template <int kC, Direction kDirection>
void reorder(const ReorderArgs& args, const ReorderRange& range) {
  constexpr bool kNhwc = kDirection == Direction::kFromNhwc || kDirection == Direction::kToNhwc;
  constexpr bool kIn = kDirection == Direction::kFromNchw || kDirection == Direction::kFromNhwc;
  const int64_t blocks = block_count(args.channels, kC);
  const int64_t chunk = kNhwc ? kChunk : std::max<int64_t>(range.pixel_end - range.pixel_begin, 1);
  for (int64_t begin = range.pixel_begin; begin < range.pixel_end; begin += chunk) {
    for (int64_t plane = range.plane_begin; plane < range.plane_end; ++plane) {
      const int64_t n = plane / blocks, channel = plane % blocks * kC;
      const int64_t blocked = plane * args.pixels * kC;
      const int64_t plain = n * args.channels * args.pixels + channel * (kNhwc ? 1 : args.pixels);
      Plane p;
      p.input = args.input + (kIn ? plain : blocked);
      p.output = args.output + (kIn ? blocked : plain);
      p.channels = std::min<int64_t>(args.channels - channel, kC);
      p.begin = begin;
      p.end = std::min(begin + chunk, range.pixel_end);
      if constexpr (kDirection == Direction::kFromNchw) plane_from_nchw<kC>(args, p);
      if constexpr (kDirection == Direction::kToNchw) plane_to_nchw<kC>(args, p);
      if constexpr (kDirection == Direction::kFromNhwc) plane_from_nhwc<kC>(args, p);
      if constexpr (kDirection == Direction::kToNhwc) plane_to_nhwc<kC>(args, p);
    }
  }
}

template <Direction kDirection>
void reorder_any_block(const ReorderArgs& args, const ReorderRange& range) {
  switch (args.block) {
    case 4:
      return reorder<4, kDirection>(args, range);
    case 8:
      return reorder<8, kDirection>(args, range);
    default:
      return reorder<16, kDirection>(args, range);
  }
}

const ReorderKernels& reorder_row() {
  static constexpr ReorderKernels row = {
      reorder_any_block<Direction::kFromNchw>, reorder_any_block<Direction::kToNchw>,
      reorder_any_block<Direction::kFromNhwc>, reorder_any_block<Direction::kToNhwc>};
  return row;
}

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
SDX_KERNEL_TABLE(ReorderKernels, reorder_kernels, reorder_row)
}  // namespace sardonyx::kernels
#endif
