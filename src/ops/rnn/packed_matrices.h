// The packed form of W and R: each direction's gates are cut into matrices, which lie one after the
// other, panel by panel of nr columns (kernels/gemm/gemm.h). W is one matrix of all gates; R is cut
// as its cell multiplies by it. Used by PackRecurrent and the recurrent operators.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "kernels/gemm/gemm.h"
#include "ops/kernel.h"

namespace sardonyx {

// How many gates each matrix of R holds.
inline constexpr int kLstmGates[] = {4};
inline constexpr int kGruGates[] = {2, 1};
inline constexpr int kRnnGates[] = {1};

// One direction of W [gates * hidden, depth] or R (depth = hidden), packed.
struct PackedMatrices {
  static constexpr size_t kMaxMatrices = 2;
  static constexpr size_t kMaxGates = 4;

  std::array<int64_t, kMaxMatrices> first_row{}, columns{}, panels{}, offset{};
  size_t count = 0;
  int64_t depth = 0, nr = 0;
  int64_t total_panels = 0, elements = 0;

  PackedMatrices(std::span<const int> gates, int64_t hidden, int64_t depth, int64_t nr)
      : count(gates.size()), depth(depth), nr(nr) {
    int64_t row = 0;
    for (size_t i = 0; i < count; ++i) {
      first_row[i] = row;
      columns[i] = gates[i] * hidden;
      row += columns[i];
      panels[i] = (columns[i] + nr - 1) / nr;
      offset[i] = elements;
      total_panels += panels[i];
      elements += panels[i] * nr * depth;
    }
  }
};

// Packs panels [first, last) of the transpose of w [n, k].
inline void pack_panels(const float* w, int64_t n, int64_t k, int64_t nr, float* out, int64_t first,
                        int64_t last) {
  kernels::pack_b(w, 1, k, k, n, static_cast<int>(nr), out, first, last);
}

inline void pack_panels(const double* w, int64_t n, int64_t k, int64_t nr, double* out,
                        int64_t first, int64_t last) {
  for (int64_t panel = first; panel < last; ++panel) {
    double* to = out + panel * k * nr;
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t column = panel * nr; column < (panel + 1) * nr; ++column) {
        *to++ = column < n ? w[column * k + i] : 0.0;
      }
    }
  }
}

// Packs panels [first, last) of one direction, counted through its matrices.
template <typename T>
void pack_matrices(const PackedMatrices& matrices, const T* w, T* out, int64_t first,
                   int64_t last) {
  int64_t base = 0;
  for (size_t i = 0; i < matrices.count; ++i) {
    const int64_t begin = std::max(first - base, int64_t{0});
    const int64_t end = std::min(last - base, matrices.panels[i]);
    if (begin < end) {
      pack_panels(w + matrices.first_row[i] * matrices.depth, matrices.columns[i], matrices.depth,
                  matrices.nr, out + matrices.offset[i], begin, end);
    }
    base += matrices.panels[i];
  }
}

// Splits a range over the panels of all directions: visit(direction, first, last).
template <typename Visit>
void for_each_direction(Range part, int64_t panels, Visit visit) {
  while (part.begin < part.end) {
    const int64_t d = part.begin / panels;
    const int64_t end = std::min(part.end, (d + 1) * panels);
    visit(d, part.begin - d * panels, end - d * panels);
    part.begin = end;
  }
}

}  // namespace sardonyx
