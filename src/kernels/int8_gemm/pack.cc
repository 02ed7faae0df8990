#include <algorithm>

#include "kernels/int8_gemm/int8_gemm.h"

namespace sardonyx::kernels {
namespace {

// Columns that are copied to rows at once when b is stored transposed.
constexpr int64_t kColumnsAtOnce = kMaxInt8PanelWidth;

void pack_transposed_rows(const Int8GemmKernels& kernels, const uint8_t* b, uint8_t flip,
                          int64_t row_stride, int64_t col_stride, int64_t rows, int64_t columns,
                          int64_t nr, int64_t panel_bytes, std::byte* out) {
  uint8_t copy[4][kColumnsAtOnce];
  const uint8_t* pointers[4] = {};
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) copy[i][j] = b[i * row_stride + j * col_stride];
    pointers[i] = copy[i];
  }
  kernels.pack_b_rows(pointers, columns, flip, nr, panel_bytes, out);
}

}  // namespace

void pack_int8_b(const Int8GemmKernels& kernels, const uint8_t* b, bool is_signed,
                 int64_t row_stride, int64_t col_stride, int64_t k, int64_t n, int64_t nr,
                 std::byte* out, int64_t first_panel, int64_t last_panel) {
  const int64_t panel_bytes = int8_panel_bytes(k, nr);
  const uint8_t flip = flip_of_b(is_signed);
  // Panels that are packed together: all of them, unless columns are copied first.
  const int64_t step = col_stride == 1 ? last_panel - first_panel : kColumnsAtOnce / nr;
  for (int64_t panel = first_panel; panel < last_panel; panel += step) {
    const int64_t columns = std::min(n, std::min(panel + step, last_panel) * nr) - panel * nr;
    std::byte* at = out + panel * panel_bytes + nr * 4;
    for (int64_t i = 0; i < k; i += 4, at += nr * 4) {
      const uint8_t* first = b + i * row_stride + panel * nr * col_stride;
      const int64_t rows = std::min<int64_t>(4, k - i);
      if (col_stride == 1) {
        const uint8_t* pointers[4] = {};
        for (int64_t r = 0; r < rows; ++r) pointers[r] = first + r * row_stride;
        kernels.pack_b_rows(pointers, columns, flip, nr, panel_bytes, at);
        continue;
      }
      pack_transposed_rows(kernels, first, flip, row_stride, col_stride, rows, columns, nr,
                           panel_bytes, at);
    }
  }
  for (int64_t panel = first_panel; panel < last_panel; ++panel) {
    kernels.sum_columns(k, nr, out + panel * panel_bytes);
  }
}

}  // namespace sardonyx::kernels
