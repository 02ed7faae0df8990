// How a matrix product is split into chunks: blocks of rows times ranges of column panels. Depends
// on sizes only; the GEMM kernels' results do not depend on the split at all. Shared by MatMul,
// Gemm, PackedGemm and the integer products.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/gemm/gemm.h"
#include "ops/kernel.h"

namespace sardonyx {

// Estimated nanoseconds of one [m, k] x [k, n] product on one thread: arithmetic, or reading b.
inline double gemm_nanoseconds(int64_t m, int64_t n, int64_t k) {
  const double b = static_cast<double>(n) * static_cast<double>(k);
  return std::max(b * static_cast<double>(m) / 25.0, b * 0.3);
}

// The same of bytes.
inline double int8_gemm_nanoseconds(int64_t m, int64_t n, int64_t k) {
  return gemm_nanoseconds(m, n, k) / 4.0;
}

// Chunks worth having for that much work.
inline int64_t worthwhile_chunks(double nanoseconds) {
  return static_cast<int64_t>(
      std::clamp(nanoseconds / kChunkNanoseconds, 1.0, static_cast<double>(kMaxChunks)));
}

struct GemmTile {
  Range rows, columns;
};

struct GemmGrid {
  int64_t m = 0, n = 0;
  int64_t mr = 1, nr = 1;
  int64_t row_blocks = 1, panel_ranges = 1;

  int64_t tiles() const { return row_blocks * panel_ranges; }
  int64_t panels() const { return (n + nr - 1) / nr; }
  GemmTile tile(int64_t index) const {
    const int64_t row_tiles = (m + mr - 1) / mr;
    const int64_t row = index / panel_ranges, panel = index % panel_ranges;
    return {{std::min(m, row_tiles * row / row_blocks * mr),
             std::min(m, row_tiles * (row + 1) / row_blocks * mr)},
            {std::min(n, panels() * panel / panel_ranges * nr),
             std::min(n, panels() * (panel + 1) / panel_ranges * nr)}};
  }
};

// About `chunks` tiles, close to square so that each reads little of a and b.
template <typename Kernels>
GemmGrid make_gemm_grid(int64_t m, int64_t n, int64_t chunks, const Kernels& gemm) {
  GemmGrid grid{m, n, gemm.mr, gemm.nr, 1, 1};
  if (m == 0 || n == 0) return grid;
  const int64_t row_tiles = (m + grid.mr - 1) / grid.mr;
  const double ideal_rows =
      std::sqrt(static_cast<double>(chunks) * static_cast<double>(m) / static_cast<double>(n));
  grid.row_blocks =
      std::clamp<int64_t>(std::llround(ideal_rows), 1, std::min<int64_t>(row_tiles, kMaxChunks));
  grid.panel_ranges =
      std::clamp<int64_t>(chunks / grid.row_blocks, 1, std::max<int64_t>(1, grid.panels()));
  grid.row_blocks = std::clamp<int64_t>(chunks / grid.panel_ranges, 1, row_tiles);
  return grid;
}

// Runs one tile of c = act(a x packed_b + bias + residual); `args` describes the whole product.
inline void run_tile(const kernels::GemmKernels& gemm, kernels::GemmArgs args,
                     const GemmTile& tile) {
  const Range rows = tile.rows, columns = tile.columns;
  if (rows.begin == rows.end || columns.begin == columns.end) return;
  args.m = rows.end - rows.begin;
  args.n = columns.end - columns.begin;
  args.a += rows.begin * args.lda;
  args.packed_b += columns.begin * args.k;
  args.c += rows.begin * args.ldc + columns.begin;
  if (args.bias != nullptr) args.bias += columns.begin;
  if (args.residual != nullptr) {
    args.residual += rows.begin * args.ld_residual + columns.begin;
  }
  gemm.run(args);
}

}  // namespace sardonyx
