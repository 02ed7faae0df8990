// Float matrix multiply against a packed right-hand side: c = act(a * b + bias + residual), one
// thread. The packed form of b is portable code driven by the tile width nr, so that a weight can
// be packed on one machine for another; one packed weight serves every m, m = 1 included.
//
// A caller splits the work over threads by rows (advance a, c, residual; reduce m) or by panels of
// nr columns (advance packed_b by k * nr floats a panel, c, bias and residual by nr columns; reduce
// n). An element's bits depend only on its row of a, its column of b and its addends, never on the
// split: products accumulate in order of k in blocks of kGemmBlockK, and the blocks add up in
// order, starting from bias and residual. Called by MatMul, Gemm, convolution as matrix multiply,
// attention.
#pragma once

#include <cstdint>

#include "base/cpu.h"
#include "kernels/epilogue.h"

namespace sardonyx::kernels {

inline constexpr int64_t kGemmBlockK = 384;

struct GemmArgs {
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;  // [m, k], columns contiguous
  int64_t lda = 0;           // floats between rows of a
  const float* packed_b = nullptr;
  float* c = nullptr;  // [m, n], columns contiguous; overlaps neither a nor b
  int64_t ldc = 0;
  const float* bias = nullptr;      // [n] or null
  const float* residual = nullptr;  // [m, n] or null; may be c itself (then ld_residual == ldc)
  int64_t ld_residual = 0;
  Epilogue epilogue;
};

struct GemmKernels {
  int mr;  // rows of a tile: a split by rows is best in multiples of it
  int nr;  // columns of a panel: what pack_b needs
  void (*run)(const GemmArgs& args);
};

const GemmKernels& gemm_kernels(Isa isa = best_isa());

// Floats that pack_b writes for a [k, n] matrix: ceil(n / nr) panels of k * nr.
int64_t packed_b_floats(int64_t k, int64_t n, int nr);

// Packs panels [first_panel, last_panel) of b, element (i, j) at b[i * row_stride + j *
// col_stride]. Panel p holds columns [p * nr, (p + 1) * nr), row after row, zeros beyond column n,
// and lies at out + p * k * nr. A transposed weight is packed by exchanging the strides.
void pack_b(const float* b, int64_t row_stride, int64_t col_stride, int64_t k, int64_t n, int nr,
            float* out, int64_t first_panel, int64_t last_panel);

// All panels.
void pack_b(const float* b, int64_t row_stride, int64_t col_stride, int64_t k, int64_t n, int nr,
            float* out);

}  // namespace sardonyx::kernels
