// Matrix products without packing: rows of a times b, b read row by row. For the types without a
// SIMD kernel (double, integers, which wrap) and for single rows, where packing b costs more than
// multiplying.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/axpy.h"

namespace sardonyx {

// c[0..n) = sum over i of a[i * a_step] * b[i * b_row + j * b_column].
template <typename T>
void plain_product_row(const T* a, int64_t a_step, const T* b, int64_t b_row, int64_t b_column,
                       int64_t k, int64_t n, T* c) {
  if (b_column == 1) {
    std::fill_n(c, n, T(0));
    int64_t i = 0;
    for (; i + 4 <= k; i += 4) {
      const T factors[4] = {a[i * a_step], a[(i + 1) * a_step], a[(i + 2) * a_step],
                            a[(i + 3) * a_step]};
      axpy4(n, factors, b + i * b_row, b_row, c);
    }
    for (; i < k; ++i) axpy(n, a[i * a_step], b + i * b_row, c);
    return;
  }
  for (int64_t j = 0; j < n; ++j) {
    T sum = 0;
    for (int64_t i = 0; i < k; ++i) sum += a[i * a_step] * b[i * b_row + j * b_column];
    c[j] = sum;
  }
}

}  // namespace sardonyx
