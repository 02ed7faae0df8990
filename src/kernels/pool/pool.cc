#include "kernels/pool/pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pool/pool.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/blocked/fused_activation-inl.h"
#include "kernels/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {

struct PoolMax {
  template <class D>
  static hn::Vec<D> start(D d) {
    return hn::Set(d, -std::numeric_limits<float>::infinity());
  }
  template <class V>
  static HWY_INLINE V add(V acc, V x) {
    return max_nan(acc, x);
  }
};

struct PoolSum {
  template <class D>
  static hn::Vec<D> start(D d) {
    return hn::Zero(d);
  }
  template <class V>
  static HWY_INLINE V add(V acc, V x) {
    return hn::Add(acc, x);
  }
};

// Kernel positions k whose cell first + k * dilation lies in [0, size).
struct Cells {
  int64_t begin, end;
};
HWY_INLINE Cells cells_inside(int64_t first, int64_t kernel, int64_t dilation, int64_t size) {
  Cells cells = {0, kernel};
  if (first < 0) cells.begin = std::min(kernel, (-first + dilation - 1) / dilation);
  if (first + (kernel - 1) * dilation >= size) {
    cells.end = first >= size ? 0 : (size - first + dilation - 1) / dilation;
  }
  cells.end = std::max(cells.begin, cells.end);
  return cells;
}

template <int kC, class Op>
HWY_NOINLINE void pool_row(const PoolArgs& args, const float* input, int64_t y, float* output) {
  const hn::CappedTag<float, kC> d;
  const Window2d& w = args.window;
  const int64_t first_y = y * w.stride_h - w.pad_top;
  const Cells rows = cells_inside(first_y, w.kernel_h, w.dilation_h, w.in_h);
  // Cells of the padded input: what count_include_pad counts.
  const Cells padded_rows = cells_inside(first_y + w.pad_top, w.kernel_h, w.dilation_h,
                                         w.in_h + w.pad_top + args.pad_bottom);
  for (int64_t x = 0; x < w.out_w; ++x, output += kC) {
    const int64_t first_x = x * w.stride_w - w.pad_left;
    const Cells columns = cells_inside(first_x, w.kernel_w, w.dilation_w, w.in_w);
    int64_t count = (rows.end - rows.begin) * (columns.end - columns.begin);
    if (args.count_include_pad) {
      const Cells padded = cells_inside(first_x + w.pad_left, w.kernel_w, w.dilation_w,
                                        w.in_w + w.pad_left + args.pad_right);
      count = (padded_rows.end - padded_rows.begin) * (padded.end - padded.begin);
    }
    for (int lane = 0; lane < kC; lane += kLanesOf<kC>) {
      auto acc = Op::start(d);
      for (int64_t ky = rows.begin; ky < rows.end; ++ky) {
        const float* in = input + ((first_y + ky * w.dilation_h) * w.in_w + first_x) * kC + lane;
        for (int64_t kx = columns.begin; kx < columns.end; ++kx) {
          acc = Op::add(acc, hn::LoadU(d, in + kx * w.dilation_w * kC));
        }
      }
      if constexpr (std::is_same_v<Op, PoolSum>) {
        acc = hn::Div(acc, hn::Set(d, static_cast<float>(std::max<int64_t>(1, count))));
      }
      hn::StoreU(acc, d, output + lane);
    }
  }
}

template <int kC, class Op>
void pool(const PoolArgs& args, const PlaneRange& range) {
  const Window2d& w = args.window;
  const int64_t blocks = block_count(args.channels, kC);
  for (int64_t plane = range.plane_begin; plane < range.plane_end; ++plane) {
    const int64_t pad_from = std::min<int64_t>(args.channels - plane % blocks * kC, kC);
    for (int64_t y = range.row_begin; y < range.row_end; ++y) {
      float* output = args.output + (plane * w.out_h + y) * w.out_w * kC;
      pool_row<kC, Op>(args, args.input + plane * w.in_h * w.in_w * kC, y, output);
      zero_pads<kC>(pad_from, w.out_w, output);
    }
  }
}

// Four partial results, so that the loop is not bound by latency.
template <int kC, class Op>
void global_pool(const GlobalPoolArgs& args, int64_t plane_begin, int64_t plane_end) {
  const hn::CappedTag<float, kC> d;
  const int64_t blocks = block_count(args.channels, kC);
  for (int64_t plane = plane_begin; plane < plane_end; ++plane) {
    for (int lane = 0; lane < kC; lane += kLanesOf<kC>) {
      const float* in = args.input + plane * args.pixels * kC + lane;
      auto a0 = Op::start(d), a1 = a0, a2 = a0, a3 = a0;
      int64_t p = 0;
      for (; p + 4 <= args.pixels; p += 4, in += 4 * kC) {
        a0 = Op::add(a0, hn::LoadU(d, in));
        a1 = Op::add(a1, hn::LoadU(d, in + kC));
        a2 = Op::add(a2, hn::LoadU(d, in + 2 * kC));
        a3 = Op::add(a3, hn::LoadU(d, in + 3 * kC));
      }
      for (; p < args.pixels; ++p, in += kC) a0 = Op::add(a0, hn::LoadU(d, in));
      auto acc = Op::add(Op::add(a0, a1), Op::add(a2, a3));
      if constexpr (std::is_same_v<Op, PoolSum>) {
        acc = hn::Div(acc, hn::Set(d, static_cast<float>(args.pixels)));
      }
      hn::StoreU(acc, d, args.output + plane * kC + lane);
    }
    const int64_t pad_from = std::min<int64_t>(args.channels - plane % blocks * kC, kC);
    zero_pads<kC>(pad_from, 1, args.output + plane * kC);
  }
}

template <class Op>
void pool_any_block(const PoolArgs& args, const PlaneRange& range) {
  switch (args.block) {
    case 4:
      return pool<4, Op>(args, range);
    case 8:
      return pool<8, Op>(args, range);
    default:
      return pool<16, Op>(args, range);
  }
}

template <class Op>
void global_pool_any_block(const GlobalPoolArgs& args, int64_t begin, int64_t end) {
  switch (args.block) {
    case 4:
      return global_pool<4, Op>(args, begin, end);
    case 8:
      return global_pool<8, Op>(args, begin, end);
    default:
      return global_pool<16, Op>(args, begin, end);
  }
}

const PoolKernels& pool_row_table() {
  static constexpr PoolKernels row = {pool_any_block<PoolMax>, pool_any_block<PoolSum>,
                                      global_pool_any_block<PoolSum>,
                                      global_pool_any_block<PoolMax>};
  return row;
}

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
SDX_KERNEL_TABLE(PoolKernels, pool_kernels, pool_row_table)
}  // namespace sardonyx::kernels
#endif
