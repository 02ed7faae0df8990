#include <algorithm>
#include <cstring>

#include "kernels/gemm/gemm.h"

namespace sardonyx::kernels {
namespace {

// Rows of b taken together when columns are contiguous in memory (a transposed weight): one cache
// line of every column is read at a time.
constexpr int64_t kRowsAtOnce = 16;

void pack_panel(const float* b, int64_t row_stride, int64_t col_stride, int64_t k, int64_t columns,
                int nr, float* out) {
  if (col_stride == 1) {
    for (int64_t i = 0; i < k; ++i, out += nr) {
      std::memcpy(out, b + i * row_stride, static_cast<size_t>(columns) * sizeof(float));
      std::fill(out + columns, out + nr, 0.0f);
    }
    return;
  }
  for (int64_t i0 = 0; i0 < k; i0 += kRowsAtOnce) {
    const int64_t rows = std::min(kRowsAtOnce, k - i0);
    for (int64_t j = 0; j < columns; ++j) {
      const float* source = b + i0 * row_stride + j * col_stride;
      for (int64_t i = 0; i < rows; ++i) out[(i0 + i) * nr + j] = source[i * row_stride];
    }
    for (int64_t i = 0; i < rows; ++i) {
      std::fill(out + (i0 + i) * nr + columns, out + (i0 + i + 1) * nr, 0.0f);
    }
  }
}

}  // namespace

int64_t packed_b_floats(int64_t k, int64_t n, int nr) { return (n + nr - 1) / nr * nr * k; }

void pack_b(const float* b, int64_t row_stride, int64_t col_stride, int64_t k, int64_t n, int nr,
            float* out, int64_t first_panel, int64_t last_panel) {
  for (int64_t p = first_panel; p < last_panel; ++p) {
    pack_panel(b + p * nr * col_stride, row_stride, col_stride, k,
               std::min<int64_t>(nr, n - p * nr), nr, out + p * k * nr);
  }
}

void pack_b(const float* b, int64_t row_stride, int64_t col_stride, int64_t k, int64_t n, int nr,
            float* out) {
  pack_b(b, row_stride, col_stride, k, n, nr, out, 0, (n + nr - 1) / nr);
}

}  // namespace sardonyx::kernels
