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

// Tile of the target: kTileRows x kPanelVectors accumulators, chosen by measuring.
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
// Rows of a that are walked under one panel of b: kBlockRows * kGemmBlockK floats stay in L2.
constexpr int64_t kBlockRows = 192;

using D = hn::CappedTag<float, kLanes>;
using V = hn::Vec<D>;

// One block of k of one tile. The addend of the first block is bias and residual, that of a later
// block is what the earlier ones left in c.
struct Tile {
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
HWY_NOINLINE void store_partial(const Tile& t, const float* sums, size_t rows, size_t stride) {
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
HWY_NOINLINE void activate(const Tile& t, size_t rows) {
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
HWY_NOINLINE void run_tile(const Tile& t) {
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

using TileFunction = void (*)(const Tile&);

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

// All panels over rows [0, rows) of one block of k.
void run_rows(Tile t, int64_t rows, int64_t columns) {
  // Tiles of nearly equal height: a last tile of one or two rows would run at a fraction of the
  // speed.
  const int64_t tiles =
      (rows + static_cast<int64_t>(kTileRows) - 1) / static_cast<int64_t>(kTileRows);
  const int64_t height = rows / tiles;
  const int64_t taller = rows % tiles;
  const Tile first = t;
  // Two heights share a number of panels.
  const size_t tall = static_cast<size_t>(height + (taller > 0));
  const bool same = panels_of(static_cast<size_t>(height)) == panels_of(tall);
  const int64_t wide = same ? static_cast<int64_t>(panels_of(tall)) : 1;
  for (int64_t j = 0; j < columns;) {
    const int64_t panels =
        columns - j > (wide - 1) * static_cast<int64_t>(kPanelColumns) ? wide : 1;
    const int64_t width = panels * static_cast<int64_t>(kPanelColumns);
    const auto& table = panels == 1 ? kNarrowTiles : kTiles;
    t.b = first.b + j / static_cast<int64_t>(kPanelColumns) * t.panel_stride;
    t.bias = first.bias == nullptr ? nullptr : first.bias + j;
    t.columns = std::min(width, columns - j);
    for (int64_t i = 0, row = 0; i < tiles; ++i) {
      const int64_t tile_rows = height + (i < taller);
      t.a = first.a + row * t.lda;
      t.c = first.c + row * t.ldc + j;
      t.addend = first.addend == nullptr ? nullptr : first.addend + row * t.ld_addend + j;
      table[static_cast<size_t>(tile_rows - 1)](t);
      row += tile_rows;
    }
    j += width;
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
    Tile t;
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
      run_rows(t, args.m * (i + 1) / blocks - row, args.n);
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
