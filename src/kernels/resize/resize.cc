#include "kernels/resize/resize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/resize/resize.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernels/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <int kC>
void nearest(const ResizeNearestArgs& args, const PlaneRange& range) {
  const hn::CappedTag<float, kC> d;
  const ResizeShape& s = args.shape;
  for (int64_t plane = range.plane_begin; plane < range.plane_end; ++plane) {
    for (int64_t y = range.row_begin; y < range.row_end; ++y) {
      float* out = args.output + (plane * s.out_h + y) * s.out_w * kC;
      if (y > range.row_begin && args.row[y] == args.row[y - 1]) {
        std::memcpy(out, out - s.out_w * kC, static_cast<size_t>(s.out_w * kC) * sizeof(float));
        continue;
      }
      const float* in = args.input + (plane * s.in_h + args.row[y]) * s.in_w * kC;
      for (int64_t x = 0; x < s.out_w; ++x) {
        for (size_t lane = 0; lane < kC; lane += hn::Lanes(d)) {
          hn::StoreU(hn::LoadU(d, in + args.column[x] * kC + lane), d, out + x * kC + lane);
        }
      }
    }
  }
}

template <int kC>
void linear(const ResizeLinearArgs& args, const PlaneRange& range) {
  const hn::CappedTag<float, kC> d;
  const ResizeShape& s = args.shape;
  const LinearAxis& column = args.column;
  for (int64_t plane = range.plane_begin; plane < range.plane_end; ++plane) {
    for (int64_t y = range.row_begin; y < range.row_end; ++y) {
      const float* low = args.input + (plane * s.in_h + args.row.low[y]) * s.in_w * kC;
      const float* high = args.input + (plane * s.in_h + args.row.high[y]) * s.in_w * kC;
      const auto row_low = hn::Set(d, args.row.low_weight[y]);
      const auto row_high = hn::Set(d, args.row.high_weight[y]);
      float* out = args.output + (plane * s.out_h + y) * s.out_w * kC;
      for (int64_t x = 0; x < s.out_w; ++x) {
        const int64_t left = int64_t{column.low[x]} * kC, right = int64_t{column.high[x]} * kC;
        const auto column_low = hn::Set(d, column.low_weight[x]);
        const auto column_high = hn::Set(d, column.high_weight[x]);
        for (size_t lane = 0; lane < kC; lane += hn::Lanes(d)) {
          const auto a = hn::MulAdd(hn::LoadU(d, low + right + lane), column_high,
                                    hn::Mul(hn::LoadU(d, low + left + lane), column_low));
          const auto b = hn::MulAdd(hn::LoadU(d, high + right + lane), column_high,
                                    hn::Mul(hn::LoadU(d, high + left + lane), column_low));
          hn::StoreU(hn::MulAdd(b, row_high, hn::Mul(a, row_low)), d, out + x * kC + lane);
        }
      }
    }
  }
}

template <int kC>
void upsample(const UpsampleArgs& args, const PlaneRange& range) {
  const hn::CappedTag<float, kC> d;
  const ResizeShape& s = args.shape;
  const int64_t row_floats = s.out_w * kC;
  for (int64_t plane = range.plane_begin; plane < range.plane_end; ++plane) {
    for (int64_t y = range.row_begin; y < range.row_end;) {
      const float* in = args.input + (plane * s.in_h + y / args.factor_h) * s.in_w * kC;
      float* out = args.output + (plane * s.out_h + y) * row_floats;
      // Rows y to end - 1 are copies of one input row; two are written at a time.
      const int64_t end = std::min((y / args.factor_h + 1) * args.factor_h, range.row_end);
      const int64_t second = y + 1 < end ? row_floats : 0;
      if (args.factor_w == 2) {
        for (int64_t x = 0; x < s.in_w; ++x) {
          for (size_t lane = 0; lane < kC; lane += hn::Lanes(d)) {
            const auto v = hn::LoadU(d, in + x * kC + lane);
            float* o = out + 2 * x * kC + lane;
            hn::StoreU(v, d, o);
            hn::StoreU(v, d, o + kC);
            hn::StoreU(v, d, o + second);
            hn::StoreU(v, d, o + second + kC);
          }
        }
      } else {
        for (int64_t x = 0; x < s.in_w; ++x) {
          for (size_t lane = 0; lane < kC; lane += hn::Lanes(d)) {
            const auto v = hn::LoadU(d, in + x * kC + lane);
            float* o = out + x * args.factor_w * kC + lane;
            for (int64_t i = 0; i < args.factor_w; ++i) {
              hn::StoreU(v, d, o + i * kC);
              hn::StoreU(v, d, o + second + i * kC);
            }
          }
        }
      }
      for (int64_t i = y + 2; i < end; ++i) {
        std::memcpy(out + (i - y) * row_floats, out,
                    static_cast<size_t>(row_floats) * sizeof(float));
      }
      y = end;
    }
  }
}

// Picks the instance of a block width.
#define SDX_BY_BLOCK(name, Args)                                     \
  void name##_any_block(const Args& args, const PlaneRange& range) { \
    if (args.shape.block == 8) return name<8>(args, range);          \
    if (args.shape.block == 16) return name<16>(args, range);        \
    name<4>(args, range);                                            \
  }
SDX_BY_BLOCK(nearest, ResizeNearestArgs)
SDX_BY_BLOCK(linear, ResizeLinearArgs)
SDX_BY_BLOCK(upsample, UpsampleArgs)
#undef SDX_BY_BLOCK

const ResizeKernels& resize_row() {
  static constexpr ResizeKernels row = {nearest_any_block, linear_any_block, upsample_any_block};
  return row;
}

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
SDX_KERNEL_TABLE(ResizeKernels, resize_kernels, resize_row)
}  // namespace sardonyx::kernels
#endif
