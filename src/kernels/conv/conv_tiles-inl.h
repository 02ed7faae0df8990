// The tile kernels of convolution for one block width: MR output pixels x NB output-channel blocks
// in registers, over all input channels and taps. Included inside foreach_target by conv_c*.cc.
#if defined(SARDONYX_KERNELS_CONV_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SARDONYX_KERNELS_CONV_TILES_INL_H_
#undef SARDONYX_KERNELS_CONV_TILES_INL_H_
#else
#define SARDONYX_KERNELS_CONV_TILES_INL_H_
#endif

#include <algorithm>

#include "kernels/blocked/fused_activation-inl.h"
#include "kernels/conv/conv.h"
#include "kernels/conv/conv_task.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {

inline constexpr int kMaxTileRows = 8;
alignas(64) inline constexpr float kZeroChannels[16] = {};

// Pixels of a tile whose pixel is `vectors` vectors wide.
constexpr int tile_rows(int vectors) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
  return vectors == 1   ? 8
         : vectors == 2 ? 6
         : vectors == 3 ? 8
         : vectors == 4 ? 6
         : vectors <= 8 ? 3
                        : 1;
#elif HWY_TARGET == HWY_SCALAR
  return vectors == 1 ? 4 : 1;
#else
  return vectors == 1   ? 8
         : vectors == 2 ? 6
         : vectors == 3 ? 4
         : vectors == 4 ? 3
         : vectors == 6 ? 2
                        : 1;
#endif
}

// What is the same for every tile of a task. The channels of a plain input count as taps, as long
// as the table of offsets holds them.
struct TileContext {
  const int64_t* tap_offsets;
  int64_t tap_count;
  int64_t channel_step, channel_stride;
  int64_t channel_steps, last_step_channels;
  int64_t out_block_stride;
  int64_t residual_offset;  // from an output address to its residual, in bytes
  bool has_residual;
  FusedActivation fused;
};

struct Tile {
  const float* base[kMaxTileRows];  // input at the pixel's origin
  float* output[kMaxTileRows];
  const uint8_t* masks;  // [tap]: bit r set when the tap of pixel r is inside; null when all are
  int64_t rows;          // pixels to store
  const float* weights;
  const float* bias;
};

// One step of the reduction: an outer product of one channel of MR pixels and its weights.
template <int kMR, int kV, class D, class V>
HWY_INLINE void accumulate(D d, const float* const* p, int64_t k, const float* w, V (*acc)[kV]) {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  if constexpr (kMR <= kV) {
    V a[kMR];
    SDX_UNROLL for (int r = 0; r < kMR; ++r) a[r] = hn::Set(d, p[r][k]);
    SDX_UNROLL for (int v = 0; v < kV; ++v) {
      const V b = hn::LoadU(d, w + v * kLanes);
      SDX_UNROLL for (int r = 0; r < kMR; ++r) acc[r][v] = hn::MulAdd(a[r], b, acc[r][v]);
    }
  } else {
    V b[kV];
    SDX_UNROLL for (int v = 0; v < kV; ++v) b[v] = hn::LoadU(d, w + v * kLanes);
    SDX_UNROLL for (int r = 0; r < kMR; ++r) {
      const V a = hn::Set(d, p[r][k]);
      SDX_UNROLL for (int v = 0; v < kV; ++v) acc[r][v] = hn::MulAdd(a, b[v], acc[r][v]);
    }
  }
}

// Bias, residual and activation; then the store.
template <int kC, int kNB, int kMR, class D, class V, int kV>
HWY_INLINE void store_tile(D d, const TileContext& c, const Tile& t, V (&acc)[kMR][kV]) {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  constexpr int kPerBlock = kC / kLanes;
  // Copies: the stores below might change what c and t refer to, as far as the compiler knows.
  const FusedActivation fused = c.fused;
  const int64_t block_stride = c.out_block_stride, rows = t.rows;
  if (t.bias != nullptr) {
    SDX_UNROLL for (int v = 0; v < kV; ++v) {
      const V bias = hn::LoadU(d, t.bias + v * kLanes);
      SDX_UNROLL for (int r = 0; r < kMR; ++r) acc[r][v] = hn::Add(acc[r][v], bias);
    }
  }
  if (c.has_residual) {
    SDX_UNROLL for (int r = 0; r < kMR; ++r) {
      if (r >= rows) break;
      const float* residual = reinterpret_cast<const float*>(
          reinterpret_cast<uintptr_t>(t.output[r]) + static_cast<uintptr_t>(c.residual_offset));
      SDX_UNROLL for (int v = 0; v < kV; ++v) {
        acc[r][v] = hn::Add(acc[r][v], hn::LoadU(d, residual + v / kPerBlock * block_stride +
                                                        v % kPerBlock * kLanes));
      }
    }
  }
  const V low = hn::Set(d, fused.low), high = hn::Set(d, fused.high);
  if (fused.hard_swish) {
    const V zero = hn::Zero(d), one = hn::Set(d, 1.0f);
    SDX_UNROLL for (int r = 0; r < kMR; ++r) {
      SDX_UNROLL for (int v = 0; v < kV; ++v) {
        acc[r][v] = hn::Mul(acc[r][v], clip(hn::MulAdd(acc[r][v], low, high), zero, one));
      }
    }
  } else if (fused.clamp) {
    SDX_UNROLL for (int r = 0; r < kMR; ++r) {
      SDX_UNROLL for (int v = 0; v < kV; ++v) acc[r][v] = clip(acc[r][v], low, high);
    }
  }
  SDX_UNROLL for (int r = 0; r < kMR; ++r) {
    if (r >= rows) break;
    float* const out = t.output[r];
    SDX_UNROLL for (int v = 0; v < kV; ++v) {
      hn::StoreU(acc[r][v], d, out + v / kPerBlock * block_stride + v % kPerBlock * kLanes);
    }
  }
}

template <int kC, int kNB, int kMR>
HWY_NOINLINE void conv_tile(const TileContext& c, const Tile& t) {
  const hn::CappedTag<float, kC> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
  constexpr int kPerBlock = kC / kLanes;
  constexpr int kV = kNB * kPerBlock;
  V acc[kMR][kV];
  SDX_UNROLL for (int r = 0; r < kMR; ++r) {
    SDX_UNROLL for (int v = 0; v < kV; ++v) acc[r][v] = hn::Zero(d);
  }

  const float* w = t.weights;
  const uint8_t* const masks = t.masks;
  const int64_t taps = c.tap_count;
  const int64_t* const tap_offsets = c.tap_offsets;
  int64_t step_offset = 0;
  if (masks == nullptr && c.channel_step == 1) {
    const float* base[kMR];
    SDX_UNROLL for (int r = 0; r < kMR; ++r) base[r] = t.base[r];
    for (int64_t s = 0; s < c.channel_steps; ++s, step_offset += c.channel_stride) {
      int64_t tap = 0;
      for (; tap + 2 <= taps; tap += 2, w += 2 * kV * kLanes) {
        accumulate<kMR, kV>(d, base, step_offset + tap_offsets[tap], w, acc);
        accumulate<kMR, kV>(d, base, step_offset + tap_offsets[tap + 1], w + kV * kLanes, acc);
      }
      if (tap < taps) {
        accumulate<kMR, kV>(d, base, step_offset + tap_offsets[tap], w, acc);
        w += kV * kLanes;
      }
    }
  } else if (masks == nullptr) {
    const float* base[kMR];
    SDX_UNROLL for (int r = 0; r < kMR; ++r) base[r] = t.base[r];
    for (int64_t s = 0; s < c.channel_steps; ++s, step_offset += c.channel_stride) {
      const int64_t n = s + 1 == c.channel_steps ? c.last_step_channels : c.channel_step;
      for (int64_t tap = 0; tap < taps; ++tap) {
        int64_t k = step_offset + tap_offsets[tap];
        const int64_t end = k + n;
        for (; k + 2 <= end; k += 2, w += 2 * kV * kLanes) {
          accumulate<kMR, kV>(d, base, k, w, acc);
          accumulate<kMR, kV>(d, base, k + 1, w + kV * kLanes, acc);
        }
        if (k < end) {
          accumulate<kMR, kV>(d, base, k, w, acc);
          w += kV * kLanes;
        }
      }
    }
  } else {
    for (int64_t s = 0; s < c.channel_steps; ++s, step_offset += c.channel_stride) {
      const int64_t n = s + 1 == c.channel_steps ? c.last_step_channels : c.channel_step;
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t offset = step_offset + tap_offsets[tap];
        // Selected by arithmetic: as branches these would be mispredicted.
        const uintptr_t zeros = reinterpret_cast<uintptr_t>(kZeroChannels);
        const uintptr_t mask = masks[tap];
        const float* p[kMR];
        SDX_UNROLL for (int r = 0; r < kMR; ++r) {
          const uintptr_t in = reinterpret_cast<uintptr_t>(t.base[r]) + offset * sizeof(float);
          p[r] = reinterpret_cast<const float*>(zeros + ((in - zeros) & (0 - ((mask >> r) & 1))));
        }
        for (int64_t k = 0; k < n; ++k, w += kV * kLanes) accumulate<kMR, kV>(d, p, k, w, acc);
      }
    }
  }
  store_tile<kC, kNB, kMR>(d, c, t, acc);
}

// The second pass over a tile: see finish_pixels. Only the last of the blocks can have pad lanes.
template <int kC>
HWY_NOINLINE void finish_tile(const Epilogue& epilogue, const TileContext& c, const Tile& t,
                              int64_t blocks, int64_t pad_from) {
  for (int64_t b = 0; b < blocks; ++b) {
    for (int64_t r = 0; r < t.rows; ++r) {
      finish_pixels<kC>(epilogue, c.fused.second_pass, b + 1 == blocks ? pad_from : kC, 1,
                        t.output[r] + b * c.out_block_stride);
    }
  }
}

// Walks the pixels [begin, end) of a task's grid in tiles and hands each to a panel's kernels.
template <int kC>
class TileWalker {
 public:
  TileWalker(const ConvTask& task, const TileContext& context) : task_(task), context_(context) {
    for (int64_t t = 0; t < task.tap_count; ++t) {
      min_dy_ = std::min(min_dy_, task.taps[t].dy);
      max_dy_ = std::max(max_dy_, task.taps[t].dy);
      min_dx_ = std::min(min_dx_, task.taps[t].dx);
      max_dx_ = std::max(max_dx_, task.taps[t].dx);
    }
  }

  void set_output(float* output) { output_ = output; }

  template <int kNB>
  void walk(int64_t begin, int64_t end, Tile* tile, int64_t pad_from) {
    constexpr int kMR = tile_rows(kNB * kC / kLanesOf<kC>);
    constexpr int kHalf = (kMR + 1) / 2;
    int64_t row = begin / task_.grid_w, column = begin % task_.grid_w;
    for (int64_t pixel = begin; pixel < end;) {
      const int64_t left = end - pixel;
      const int size = left > kHalf ? kMR : left > 1 ? kHalf : 1;
      tile->rows = std::min<int64_t>(size, left);
      place(size, tile, &row, &column);
      if (size == kMR) {
        conv_tile<kC, kNB, kMR>(context_, *tile);
      } else if (size == 1) {
        conv_tile<kC, kNB, 1>(context_, *tile);
      } else {
        conv_tile<kC, kNB, kHalf>(context_, *tile);
      }
      if (context_.fused.second_pass || pad_from < kC) {
        finish_tile<kC>(*task_.epilogue, context_, *tile, kNB, pad_from);
      }
      pixel += tile->rows;
    }
  }

 private:
  // Addresses of the tile's pixels, row by row; the ones past its rows repeat the last. Moves row
  // and column on.
  void place(int size, Tile* tile, int64_t* row, int64_t* column) {
    const int rows = static_cast<int>(tile->rows);
    const int64_t in_step = task_.step_w * task_.in_pixel_stride;
    const int64_t first_row = *row, first_column = *column;
    bool inside = true;
    for (int r = 0; r < rows;) {
      const int64_t y = *row * task_.step_h, x = *column * task_.step_w;
      const int count = static_cast<int>(std::min<int64_t>(rows - r, task_.grid_w - *column));
      const float* in = task_.input + y * task_.in_row_stride + x * task_.in_pixel_stride;
      float* out = output_ + *row * task_.out_row_stride + *column * task_.out_pixel_stride;
      inside = inside && y + min_dy_ >= 0 && y + max_dy_ < task_.in_h && x + min_dx_ >= 0 &&
               x + (count - 1) * task_.step_w + max_dx_ < task_.in_w;
      for (const int end = r + count; r < end; ++r) {
        tile->base[r] = in;
        tile->output[r] = out;
        in += in_step;
        out += task_.out_pixel_stride;
      }
      *column += count;
      if (*column == task_.grid_w) {
        *column = 0;
        ++*row;
      }
    }
    for (int r = rows; r < size; ++r) tile->base[r] = tile->base[rows - 1];
    tile->masks = nullptr;
    if (!inside) find_masks(rows, first_row, first_column, tile);
  }

  // Bits of rows past the tile's stay 0: those pixels read zeros.
  void find_masks(int rows, int64_t row, int64_t column, Tile* tile) {
    const uint64_t h = static_cast<uint64_t>(task_.in_h), w = static_cast<uint64_t>(task_.in_w);
    std::fill_n(masks_, task_.tap_count, uint8_t{0});
    for (int r = 0; r < rows; ++r) {
      const int64_t y = row * task_.step_h, x = column * task_.step_w;
      for (int64_t t = 0; t < task_.tap_count; ++t) {
        const bool in = static_cast<uint64_t>(y + task_.taps[t].dy) < h &&
                        static_cast<uint64_t>(x + task_.taps[t].dx) < w;
        masks_[t] |= static_cast<uint8_t>(in << r);
      }
      if (++column == task_.grid_w) {
        column = 0;
        ++row;
      }
    }
    for (int64_t t = task_.tap_count; t < context_.tap_count; ++t) {
      masks_[t] = masks_[t - task_.tap_count];
    }
    tile->masks = masks_;
  }

  const ConvTask& task_;
  const TileContext& context_;
  float* output_ = nullptr;  // first block of the panel
  int32_t min_dy_ = 0, max_dy_ = 0, min_dx_ = 0, max_dx_ = 0;
  uint8_t masks_[kMaxConvTaps];
};

// Pixels that are taken through all panels before the next ones, so that their input stays in L2.
inline int64_t chunk_pixels(const ConvTask& task) {
  constexpr int64_t kChunkBytes = 192 << 10;
  const int64_t bytes = task.in_channels * task.step_h * task.step_w * 4;
  return std::max<int64_t>(kChunkBytes / bytes / kConvPixelGrain, 2) * kConvPixelGrain;
}

template <int kC>
void run_conv_task(const ConvTask& task) {
  int64_t offsets[kMaxConvTaps];
  for (int64_t t = 0; t < task.tap_count; ++t) {
    offsets[t] = task.taps[t].dy * task.in_row_stride + task.taps[t].dx * task.in_pixel_stride;
  }
  TileContext c = {};
  c.tap_offsets = offsets;
  c.tap_count = task.tap_count;
  c.channel_step = task.channel_step;
  c.channel_stride = task.channel_stride;
  c.channel_steps = (task.in_channels + task.channel_step - 1) / task.channel_step;
  c.last_step_channels = task.in_channels - (c.channel_steps - 1) * task.channel_step;
  if (task.channel_step == 1 && task.in_channels * task.tap_count <= kMaxConvTaps) {
    c.tap_count = task.in_channels * task.tap_count;
    c.channel_steps = 1;
    for (int64_t t = task.tap_count; t < c.tap_count; ++t) {
      offsets[t] = offsets[t - task.tap_count] + task.channel_stride;
    }
  }
  c.out_block_stride = task.out_block_stride;
  c.has_residual = task.residual != nullptr;
  c.residual_offset = static_cast<int64_t>(reinterpret_cast<uintptr_t>(task.residual) -
                                           reinterpret_cast<uintptr_t>(task.output));
  c.fused = fuse_activation(*task.epilogue);

  TileWalker<kC> walker(task, c);
  Tile tile;
  const int64_t blocks = (task.out_channels + kC - 1) / kC;
  const int64_t chunk = chunk_pixels(task);
  for (int64_t begin = task.pixel_begin; begin < task.pixel_end; begin += chunk) {
    const int64_t end = std::min(begin + chunk, task.pixel_end);
    for (int64_t panel = task.panel_begin; panel < task.panel_end; ++panel) {
      const int64_t first = panel * task.panel_blocks;
      const int64_t count = std::min(task.panel_blocks, blocks - first);
      tile.weights = task.weights + panel * task.panel_stride;
      tile.bias = task.bias == nullptr ? nullptr : task.bias + first * kC;
      walker.set_output(task.output + first * task.out_block_stride);
      const int64_t pad_from = first + count == blocks ? task.out_channels - (blocks - 1) * kC : kC;
      switch (count) {
        case 1:
          walker.template walk<1>(begin, end, &tile, pad_from);
          break;
        case 2:
          walker.template walk<2>(begin, end, &tile, pad_from);
          break;
        case 3:
          walker.template walk<3>(begin, end, &tile, pad_from);
          break;
        default:
          walker.template walk<4>(begin, end, &tile, pad_from);
      }
    }
  }
}

// Relative time of one block in a panel of n blocks.
template <int kC>
int best_panel_blocks(int64_t blocks) {
  static constexpr int kPerBlock = kC / kLanesOf<kC>;
  int best = 1;
  int64_t best_cost = 0;
  for (int n = 1; n <= kMaxPanelBlocks && n <= blocks; ++n) {
    if (n > 1 && n * kPerBlock > 4) break;
    const auto cost = [](int64_t b) -> int64_t { return b * kPerBlock == 1 ? 5 : 4 * b; };
    const int64_t total = blocks / n * cost(n) + (blocks % n != 0 ? cost(blocks % n) : int64_t{0});
    if (n == 1 || total <= best_cost) {
      best = n;
      best_cost = total;
    }
  }
  return best;
}

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#endif  // SARDONYX_KERNELS_CONV_TILES_INL_H_
