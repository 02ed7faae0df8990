#include "kernels/depthwise/depthwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/depthwise/depthwise.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/blocked/fused_activation-inl.h"
#include "kernels/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {

inline constexpr int kRun = 8;  // output pixels a step holds in registers

// One output row of one plane.
struct Row {
  const float* input;                // plane
  const float* weights;              // of the block
  const float* bias;                 // of the block, or null
  const float* residual;             // row, or null
  float* output;                     // row
  int64_t first_y;                   // input row of kernel row 0
  int64_t kernel_begin, kernel_end;  // kernel rows inside the input
  FusedActivation fused;
};

// Finishes and stores the first `count` pixels of a step, one vector each, kC floats apart.
template <int kC, class D, class V>
HWY_INLINE void store_run(D d, const Row& row, int64_t offset, int64_t lane, int64_t count,
                          V (&acc)[kRun]) {
  // Copies: the stores below might change what row refers to, as far as the compiler knows.
  const FusedActivation fused = row.fused;
  const float* const residual = row.residual;
  float* const out = row.output + offset;
  const V low = hn::Set(d, fused.low), high = hn::Set(d, fused.high);
  if (row.bias != nullptr) {
    const V bias = hn::LoadU(d, row.bias + lane);
    SDX_UNROLL for (int r = 0; r < kRun; ++r) acc[r] = hn::Add(acc[r], bias);
  }
  if (residual != nullptr) {
    SDX_UNROLL for (int r = 0; r < kRun; ++r) {
      if (r < count) acc[r] = hn::Add(acc[r], hn::LoadU(d, residual + offset + r * kC));
    }
  }
  if (fused.hard_swish) {
    const V zero = hn::Zero(d), one = hn::Set(d, 1.0f);
    SDX_UNROLL for (int r = 0; r < kRun; ++r) {
      acc[r] = hn::Mul(acc[r], clip(hn::MulAdd(acc[r], low, high), zero, one));
    }
  } else if (fused.clamp) {
    SDX_UNROLL for (int r = 0; r < kRun; ++r) acc[r] = clip(acc[r], low, high);
  }
  SDX_UNROLL for (int r = 0; r < kRun; ++r) {
    if (r >= count) break;
    hn::StoreU(acc[r], d, out + r * kC);
  }
}

// kRun pixels from output column `column`. With kEdge, input columns outside of the row are zeros
// and pixels past the row are not stored.
template <int kC, int kKernel, int kStride, bool kEdge>
HWY_INLINE void run_step(const Window2d& w, const Row& row, int64_t column) {
  const hn::CappedTag<float, kC> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kColumns = (kRun - 1) * kStride + kKernel;
  const int64_t x0 = column * kStride - w.pad_left;
  for (int lane = 0; lane < kC; lane += kLanesOf<kC>) {
    V acc[kRun];
    SDX_UNROLL for (int r = 0; r < kRun; ++r) acc[r] = hn::Zero(d);
    for (int64_t ky = row.kernel_begin; ky < row.kernel_end; ++ky) {
      const float* in = row.input + ((row.first_y + ky) * w.in_w + x0) * kC + lane;
      const float* weights = row.weights + ky * kKernel * kC + lane;
      V k[kKernel];
      SDX_UNROLL for (int i = 0; i < kKernel; ++i) k[i] = hn::LoadU(d, weights + i * kC);
      SDX_UNROLL for (int j = 0; j < kColumns; ++j) {
        V x;
        if constexpr (kEdge) {
          x = static_cast<uint64_t>(x0 + j) < static_cast<uint64_t>(w.in_w)
                  ? hn::LoadU(d, in + j * kC)
                  : hn::Zero(d);
        } else {
          x = hn::LoadU(d, in + j * kC);
        }
        SDX_UNROLL for (int i = 0; i < kKernel; ++i) {
          if (j >= i && (j - i) % kStride == 0 && (j - i) / kStride < kRun) {
            acc[(j - i) / kStride] = hn::MulAdd(x, k[i], acc[(j - i) / kStride]);
          }
        }
      }
    }
    store_run<kC>(d, row, column * kC + lane, lane, kEdge ? w.out_w - column : kRun, acc);
  }
}

template <int kC, int kKernel, int kStride>
HWY_NOINLINE void run_row(const Window2d& w, const Row& row) {
  constexpr int kColumns = (kRun - 1) * kStride + kKernel;
  for (int64_t column = 0; column < w.out_w; column += kRun) {
    const int64_t x0 = column * kStride - w.pad_left;
    if (x0 < 0 || x0 + kColumns > w.in_w || column + kRun > w.out_w) {
      run_step<kC, kKernel, kStride, true>(w, row, column);
    } else {
      run_step<kC, kKernel, kStride, false>(w, row, column);
    }
  }
}

// Any kernel width, stride and dilation.
template <int kC>
HWY_NOINLINE void run_any_row(const Window2d& w, const Row& row) {
  const hn::CappedTag<float, kC> d;
  using V = hn::Vec<decltype(d)>;
  for (int64_t column = 0; column < w.out_w; column += kRun) {
    for (int lane = 0; lane < kC; lane += kLanesOf<kC>) {
      V acc[kRun];
      SDX_UNROLL for (int r = 0; r < kRun; ++r) acc[r] = hn::Zero(d);
      for (int64_t ky = row.kernel_begin; ky < row.kernel_end; ++ky) {
        const float* in = row.input + (row.first_y + ky * w.dilation_h) * w.in_w * kC + lane;
        const float* weights = row.weights + ky * w.kernel_w * kC + lane;
        for (int64_t kx = 0; kx < w.kernel_w; ++kx) {
          const V k = hn::LoadU(d, weights + kx * kC);
          const int64_t x0 = column * w.stride_w - w.pad_left + kx * w.dilation_w;
          SDX_UNROLL for (int r = 0; r < kRun; ++r) {
            const int64_t x = x0 + r * w.stride_w;
            if (static_cast<uint64_t>(x) < static_cast<uint64_t>(w.in_w)) {
              acc[r] = hn::MulAdd(hn::LoadU(d, in + x * kC), k, acc[r]);
            }
          }
        }
      }
      store_run<kC>(d, row, column * kC + lane, lane, w.out_w - column, acc);
    }
  }
}

using RowFunction = void (*)(const Window2d&, const Row&);

template <int kC>
RowFunction choose_row(const Window2d& w) {
  // Width 4 and scalar code do not pay the compile time.
  if constexpr (kC != 4 && HWY_TARGET != HWY_SCALAR) {
    if (w.dilation_h == 1 && w.dilation_w == 1) {
      if (w.kernel_w == 3 && w.stride_w == 1) return run_row<kC, 3, 1>;
      if (w.kernel_w == 3 && w.stride_w == 2) return run_row<kC, 3, 2>;
      if (w.kernel_w == 5 && w.stride_w == 1) return run_row<kC, 5, 1>;
      if (w.kernel_w == 5 && w.stride_w == 2) return run_row<kC, 5, 2>;
    }
  }
  return run_any_row<kC>;
}

template <int kC>
void run_depthwise(const DepthwiseArgs& args, const PlaneRange& range) {
  const Window2d& w = args.shape.window;
  const int64_t blocks = block_count(args.shape.channels, kC);
  const RowFunction run = choose_row<kC>(w);
  Row row = {};
  row.fused = fuse_activation(args.epilogue);
  for (int64_t plane = range.plane_begin; plane < range.plane_end; ++plane) {
    const int64_t block = plane % blocks;
    const int64_t pad_from = std::min<int64_t>(args.shape.channels - block * kC, kC);
    row.input = args.input + plane * w.in_h * w.in_w * kC;
    row.weights = args.weights + block * w.kernel_h * w.kernel_w * kC;
    row.bias = args.bias == nullptr ? nullptr : args.bias + block * kC;
    for (int64_t y = range.row_begin; y < range.row_end; ++y) {
      const int64_t offset = (plane * w.out_h + y) * w.out_w * kC;
      row.first_y = y * w.stride_h - w.pad_top;
      row.kernel_begin = 0;
      row.kernel_end = w.kernel_h;
      while (row.kernel_begin < row.kernel_end &&
             row.first_y + row.kernel_begin * w.dilation_h < 0) {
        ++row.kernel_begin;
      }
      while (row.kernel_begin < row.kernel_end &&
             row.first_y + (row.kernel_end - 1) * w.dilation_h >= w.in_h) {
        --row.kernel_end;
      }
      row.output = args.output + offset;
      row.residual = args.residual == nullptr ? nullptr : args.residual + offset;
      run(w, row);
      if (row.fused.second_pass || pad_from < kC) {
        finish_pixels<kC>(args.epilogue, row.fused.second_pass, pad_from, w.out_w, row.output);
      }
    }
  }
}

void run_any_block(const DepthwiseArgs& args, const PlaneRange& range) {
  switch (args.block) {
    case 4:
      return run_depthwise<4>(args, range);
    case 8:
      return run_depthwise<8>(args, range);
    default:
      return run_depthwise<16>(args, range);
  }
}

const DepthwiseKernels& depthwise_row() {
  static constexpr DepthwiseKernels row = {run_any_block};
  return row;
}

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
SDX_KERNEL_TABLE(DepthwiseKernels, depthwise_kernels, depthwise_row)
}  // namespace sardonyx::kernels
#endif
