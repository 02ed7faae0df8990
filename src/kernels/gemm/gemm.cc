#include "kernels/gemm/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/gemm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "kernels/dispatch.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {

// GemmTile of the target: kTileRows x kPanelVectors accumulators, chosen by measuring.
#if HWY_TARGET == HWY_AVX3
constexpr size_t kTileRows = 14, kPanelVectors = 2, kLanes = 16;
#elif HWY_TARGET == HWY_AVX2
constexpr size_t kTileRows = 6, kPanelVectors = 2, kLanes = 8;
#elif HWY_TARGET == HWY_SCALAR
constexpr size_t kTileRows = 2, kPanelVectors = 4, kLanes = 1;
#elif HWY_TARGET == HWY_NEON
constexpr size_t kTileRows = 8, kPanelVectors = 2, kLanes = 4;
#else
constexpr size_t kTileRows = 4, kPanelVectors = 2, kLanes = 4;
#endif
constexpr size_t kPanelColumns = kPanelVectors * kLanes;
// Whether prefetching the next panel pays: 6 rows leave little time to fetch one, 14 leave enough.
constexpr bool kPrefetchPanels = HWY_TARGET == HWY_AVX2;
// Rows of a that are walked under one panel of b: kBlockRows * kGemmBlockK floats stay in L2.
constexpr int64_t kBlockRows = 192;

using D = hn::CappedTag<float, kLanes>;
using V = hn::Vec<D>;

// One block of k of one tile. The addend of the first block is bias and residual, that of a later
// block is what the earlier ones left in c.
struct GemmTile {
  const float* a;
  int64_t lda;
  const float* b;        // first panel, at the first k of the block
  int64_t panel_stride;  // floats between panels
  int64_t k;             // length of the block
  float* c;
  int64_t ldc;
  const float* bias;    // [columns] or null
  const float* addend;  // [rows, columns] or null
  int64_t ld_addend;
  int64_t columns;           // valid ones: all, or fewer in the last panel
  float low, high;           // clamp of the last block
  const Epilogue* epilogue;  // what is left to apply after the clamp, or null
};

// Bounds of the clamp that stands for the cheap activations; infinite for the others.
HWY_INLINE void clamp_bounds(const Epilogue& epilogue, float* low, float* high) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  *low = -kInf;
  *high = kInf;
  if (epilogue.activation == Activation::kRelu) *low = 0.0f;
  if (epilogue.activation == Activation::kClip) {
    *low = epilogue.alpha;
    *high = epilogue.beta;
  }
}

// Stores a tile whose panels are not all full, through memory.
HWY_NOINLINE void store_partial(const GemmTile& t, const float* sums, size_t rows, size_t stride) {
  const D d;
  const V low = hn::Set(d, t.low), high = hn::Set(d, t.high);
  for (size_t r = 0; r < rows; ++r) {
    float* c = t.c + static_cast<int64_t>(r) * t.ldc;
    for (int64_t j = 0; j < t.columns; j += kLanes) {
      const size_t left = static_cast<size_t>(t.columns - j);
      V v = hn::Load(d, sums + r * stride + j);
      v = hn::Add(v, t.bias != nullptr ? load_n(d, t.bias + j, left) : hn::Zero(d));
      if (t.addend != nullptr) {
        v = hn::Add(v, load_n(d, t.addend + static_cast<int64_t>(r) * t.ld_addend + j, left));
      }
      store_n(clip(v, low, high), d, c + j, left);
    }
  }
}

// The activation of a stored tile, still in L1.
HWY_NOINLINE void activate(const GemmTile& t, size_t rows) {
  const D d;
  for (size_t r = 0; r < rows; ++r) {
    float* c = t.c + static_cast<int64_t>(r) * t.ldc;
    for (int64_t j = 0; j < t.columns; j += kLanes) {
      const size_t left = static_cast<size_t>(t.columns - j);
      store_n(apply_activation(d, *t.epilogue, load_n(d, c + j, left)), d, c + j, left);
    }
  }
}

template <size_t kRows, size_t kPanels>
HWY_NOINLINE void run_tile(const GemmTile& t) {
  const D d;
  constexpr size_t kVectors = kPanels * kPanelVectors;
  V sum[kRows][kVectors];
  SDX_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    SDX_UNROLL
    for (size_t v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(d);
  }

  // Three rows share a base pointer: with the index register they need one add a step.
  constexpr size_t kGroups = (kRows + 2) / 3;
  const float* HWY_RESTRICT a[kGroups];
  const int64_t lda = t.lda;
  SDX_UNROLL
  for (size_t g = 0; g < kGroups; ++g) a[g] = t.a + static_cast<int64_t>(g) * 3 * lda;
  const float* HWY_RESTRICT b = t.b;
  const int64_t panel_stride = t.panel_stride;
  const auto step = [&](int64_t k) HWY_ATTR {
    V bv[kVectors];
    SDX_UNROLL
    for (size_t v = 0; v < kVectors; ++v) {
      bv[v] = hn::LoadU(d, b + static_cast<int64_t>(v / kPanelVectors) * panel_stride +
                               k * static_cast<int64_t>(kPanelColumns) +
                               static_cast<int64_t>(v % kPanelVectors * kLanes));
    }
    SDX_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      const V av = hn::Set(d, a[r / 3][k + static_cast<int64_t>(r % 3) * lda]);
      SDX_UNROLL
      for (size_t v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(av, bv[v], sum[r][v]);
    }
  };
  int64_t left = t.k;
  for (; left >= 2; left -= 2) {
    step(0);
    step(1);
    SDX_UNROLL
    for (size_t g = 0; g < kGroups; ++g) a[g] += 2;
    b += 2 * kPanelColumns;
  }
  if (left != 0) step(0);

  if (t.columns == static_cast<int64_t>(kPanels * kPanelColumns)) {
    const V low = hn::Set(d, t.low), high = hn::Set(d, t.high);
    V bias[kVectors];
    SDX_UNROLL
    for (size_t v = 0; v < kVectors; ++v) {
      bias[v] = t.bias != nullptr ? hn::LoadU(d, t.bias + v * kLanes) : hn::Zero(d);
    }
    float* c = t.c;
    if (t.addend != nullptr) {
      const float* addend = t.addend;
      SDX_UNROLL
      for (size_t r = 0; r < kRows; ++r, c += t.ldc, addend += t.ld_addend) {
        SDX_UNROLL
        for (size_t v = 0; v < kVectors; ++v) {
          const V total = hn::Add(hn::Add(sum[r][v], bias[v]), hn::LoadU(d, addend + v * kLanes));
          hn::StoreU(clip(total, low, high), d, c + v * kLanes);
        }
      }
    } else {
      SDX_UNROLL
      for (size_t r = 0; r < kRows; ++r, c += t.ldc) {
        SDX_UNROLL
        for (size_t v = 0; v < kVectors; ++v) {
          hn::StoreU(clip(hn::Add(sum[r][v], bias[v]), low, high), d, c + v * kLanes);
        }
      }
    }
  } else {
    HWY_ALIGN float buffer[kRows * kVectors * kLanes];
    SDX_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      SDX_UNROLL
      for (size_t v = 0; v < kVectors; ++v) {
        hn::Store(sum[r][v], d, buffer + (r * kVectors + v) * kLanes);
      }
    }
    store_partial(t, buffer, kRows, kVectors * kLanes);
  }
  if (t.epilogue != nullptr) activate(t, kRows);
}

using TileFunction = void (*)(const GemmTile&);

// Few rows leave accumulators free: they take several panels at once, so that enough independent
// sums hide the latency of the multiply-adds.
constexpr size_t panels_of(size_t rows) { return rows == 1 ? 4 : rows <= 3 ? 2 : 1; }

template <size_t... kIndex>
constexpr auto make_tiles(std::index_sequence<kIndex...>) {
  return std::array<TileFunction, sizeof...(kIndex)>{
      &run_tile<kIndex + 1, panels_of(kIndex + 1)>...};
}
template <size_t... kIndex>
constexpr auto make_narrow_tiles(std::index_sequence<kIndex...>) {
  return std::array<TileFunction, sizeof...(kIndex)>{&run_tile<kIndex + 1, 1>...};
}
// [rows - 1]: panels_of(rows) panels, and one.
constexpr auto kTiles = make_tiles(std::make_index_sequence<kTileRows>());
constexpr auto kNarrowTiles = make_narrow_tiles(std::make_index_sequence<kTileRows>());

// A tile of rows whose distance is a large power of two falls into a few sets of the L1 cache. Such
// a tile is copied to rows that do not, once for a group of panels.
constexpr int64_t kCopyStride = kGemmBlockK + 16;
constexpr int64_t kCopyPanels = 8;
HWY_INLINE bool rows_collide(int64_t lda, int64_t rows) {
  return rows >= 6 && lda * static_cast<int64_t>(sizeof(float)) % 4096 == 0;
}
void copy_tile(const GemmTile& t, int64_t rows, float* out) {
  const D d;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t k = 0; k < t.k; k += kLanes) {
      const size_t left = static_cast<size_t>(t.k - k);
      store_n(load_n(d, t.a + r * t.lda + k, left), d, out + r * kCopyStride + k, left);
    }
  }
}

// Rows [0, rows) of one block of k as tiles of nearly equal height: a last tile of one or two rows
// would run at a fraction of the speed.
struct TileRows {
  explicit TileRows(int64_t rows)
      : count((rows + kRowsOfTile - 1) / kRowsOfTile), height(rows / count), taller(rows % count) {}
  int64_t of(int64_t i) const { return height + (i < taller); }
  int64_t tallest() const { return height + (taller > 0); }

  static constexpr int64_t kRowsOfTile = kTileRows;
  int64_t count, height, taller;
};

// GemmTile `first`, moved to a row and a panel, with the columns that are left there.
HWY_INLINE GemmTile tile_at(const GemmTile& first, int64_t row, int64_t j, int64_t columns) {
  GemmTile t = first;
  t.a = first.a + row * first.lda;
  t.b = first.b + j / static_cast<int64_t>(kPanelColumns) * first.panel_stride;
  t.bias = first.bias == nullptr ? nullptr : first.bias + j;
  t.c = first.c + row * first.ldc + j;
  t.addend = first.addend == nullptr ? nullptr : first.addend + row * first.ld_addend + j;
  t.columns = columns;
  return t;
}

// All panels over rows [0, rows) of one block of k, colliding rows copied.
void run_copied_rows(const GemmTile& first, int64_t rows, int64_t columns) {
  const TileRows tiles(rows);
  HWY_ALIGN float copy[kTileRows * kCopyStride];
  constexpr int64_t kColumns = kPanelColumns;
  for (int64_t group = 0; group < columns; group += kCopyPanels * kColumns) {
    const int64_t end = std::min(columns, group + kCopyPanels * kColumns);
    for (int64_t i = 0, row = 0; i < tiles.count; row += tiles.of(i++)) {
      copy_tile(tile_at(first, row, group, 0), tiles.of(i), copy);
      for (int64_t j = group; j < end; j += kColumns) {
        GemmTile t = tile_at(first, row, j, std::min(kColumns, columns - j));
        t.a = copy;
        t.lda = kCopyStride;
        kNarrowTiles[static_cast<size_t>(tiles.of(i) - 1)](t);
      }
    }
  }
}

// Part i of `parts` of the next panel on its way to L2, while a tile of this one is computed.
HWY_INLINE void prefetch_part(const float* panel, int64_t floats, int64_t i, int64_t parts) {
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
  constexpr int64_t kLine = 16;
  const int64_t part = (floats / parts + kLine) / kLine * kLine;
  const int64_t end = std::min(floats, (i + 1) * part);
  for (int64_t at = i * part; at < end; at += kLine) __builtin_prefetch(panel + at, 0, 2);
#endif
}

// All panels over rows [0, rows) of one block of k.
void run_rows(const GemmTile& first, int64_t rows, int64_t columns) {
  const TileRows tiles(rows);
  // Several panels at once only where all tiles take the same number of them.
  const size_t tallest = static_cast<size_t>(tiles.tallest());
  const bool same = panels_of(static_cast<size_t>(tiles.height)) == panels_of(tallest);
  const int64_t wide = same ? static_cast<int64_t>(panels_of(tallest)) : 1;
  constexpr int64_t kColumns = kPanelColumns;
  for (int64_t j = 0; j < columns;) {
    const int64_t panels = columns - j > (wide - 1) * kColumns ? wide : 1;
    const int64_t width = std::min(panels * kColumns, columns - j);
    const auto& table = panels == 1 ? kNarrowTiles : kTiles;
    const int64_t next = j + panels * kColumns;
    for (int64_t i = 0, row = 0; i < tiles.count; row += tiles.of(i++)) {
      if (kPrefetchPanels && tiles.count >= 4 && next < columns) {
        prefetch_part(first.b + next / kColumns * first.panel_stride, first.k * kColumns, i,
                      tiles.count);
      }
      table[static_cast<size_t>(tiles.of(i) - 1)](tile_at(first, row, j, width));
    }
    j += panels * kColumns;
  }
}

void run(const GemmArgs& args) {
  if (args.m <= 0 || args.n <= 0) return;
  constexpr float kInf = std::numeric_limits<float>::infinity();
  float low, high;
  clamp_bounds(args.epilogue, &low, &high);
  const Activation activation = args.epilogue.activation;
  const bool clamped = activation == Activation::kNone || activation == Activation::kRelu ||
                       activation == Activation::kClip;
  for (int64_t k0 = 0; k0 == 0 || k0 < args.k; k0 += kGemmBlockK) {
    const bool first = k0 == 0;
    const bool last = k0 + kGemmBlockK >= args.k;
    GemmTile t;
    t.lda = args.lda;
    t.b = args.packed_b + k0 * static_cast<int64_t>(kPanelColumns);
    t.panel_stride = args.k * static_cast<int64_t>(kPanelColumns);
    t.k = std::min(kGemmBlockK, args.k - k0);
    t.ldc = args.ldc;
    t.bias = first ? args.bias : nullptr;
    t.ld_addend = first ? args.ld_residual : args.ldc;
    t.low = last ? low : -kInf;
    t.high = last ? high : kInf;
    t.epilogue = last && !clamped ? &args.epilogue : nullptr;
    const int64_t blocks = (args.m + kBlockRows - 1) / kBlockRows;
    for (int64_t i = 0; i < blocks; ++i) {
      const int64_t row = args.m * i / blocks;
      t.a = args.a + row * args.lda + k0;
      t.c = args.c + row * args.ldc;
      t.addend = !first                     ? t.c
                 : args.residual != nullptr ? args.residual + row * args.ld_residual
                                            : nullptr;
      const int64_t rows = args.m * (i + 1) / blocks - row;
      const bool copy =
          args.n > static_cast<int64_t>(kPanelColumns) && rows_collide(args.lda, rows);
      (copy ? run_copied_rows : run_rows)(t, rows, args.n);
    }
  }
}

const GemmKernels& gemm_row() {
  static const GemmKernels table{kTileRows, kPanelColumns, run};
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
SDX_KERNEL_TABLE(GemmKernels, gemm_kernels, gemm_row)
}  // namespace sardonyx::kernels
#endif
