// A cell of a recurrent operator: what happens to the states of some batch rows in one step, and
// the packed form of R that it multiplies them by.
//
// A Cell<T> has
//   kGates           gates in W and R
//   kMatrixGates     how many of these each packed matrix of R holds, in order
//   kExtra           vectors of hidden size that it wants as scratch for each batch row
//   adds_recurrent_bias(gate)   whether R's bias may be added to W's ahead of time
//   step(CellArgs)   one step of some batch rows
// Written by the three operators, called by RecurrentKernel.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "ops/rnn/panel_product.h"

namespace sardonyx {

// Where R's matrices lie when packed: matrix by matrix, panel by panel.
template <size_t kMatrices>
struct RecurrentMatrices {
  std::array<int64_t, kMatrices> first_gate{}, columns{}, panels{}, offset{};
  int64_t total_panels = 0, elements = 0;

  RecurrentMatrices() = default;
  RecurrentMatrices(const std::array<int, kMatrices>& gates, int64_t hidden, int64_t nr) {
    int64_t gate = 0;
    for (size_t i = 0; i < kMatrices; ++i) {
      first_gate[i] = gate;
      gate += gates[i];
      columns[i] = gates[i] * hidden;
      panels[i] = (columns[i] + nr - 1) / nr;
      offset[i] = elements;
      total_panels += panels[i];
      elements += panels[i] * nr * hidden;
    }
  }
};

// Packs R's panels [first, last) of one direction, counted through its matrices.
template <typename T, size_t kMatrices>
void pack_recurrent(const PanelProduct<T>& product, const RecurrentMatrices<kMatrices>& matrices,
                    const T* r, int64_t hidden, T* out, int64_t first, int64_t last) {
  int64_t base = 0;
  for (size_t i = 0; i < kMatrices; ++i) {
    const int64_t begin = std::max(first - base, int64_t{0});
    const int64_t end = std::min(last - base, matrices.panels[i]);
    if (begin < end) {
      product.pack(r + matrices.first_gate[i] * hidden * hidden, matrices.columns[i], hidden,
                   out + matrices.offset[i], begin, end);
    }
    base += matrices.panels[i];
  }
}

// One step of `rows` batch rows in one direction.
template <typename T, size_t kMatrices>
struct CellArgs {
  int direction = 0;
  int64_t rows = 0, hidden = 0;
  T* gates = nullptr;  // [rows, gates * hidden]: X * W + biases of this step
  T* h = nullptr;      // [rows, hidden], updated
  T* c = nullptr;
  T* extra = nullptr;                 // [rows, kExtra * hidden]
  const T* peepholes = nullptr;       // [3 * hidden], or null
  const T* recurrent_bias = nullptr;  // [gates * hidden], or null
  const int32_t* lengths = nullptr;   // null: every row runs through all steps
  int64_t step = 0;
  const PanelProduct<T>* product = nullptr;
  const RecurrentMatrices<kMatrices>* matrices = nullptr;
  const T* packed = nullptr;

  bool is_active(int64_t row) const { return lengths == nullptr || step < lengths[row]; }
  // to = a [rows, hidden] * matrix i of R (+ bias, + to).
  void multiply(size_t i, const T* a, T* to, int64_t stride, const T* bias, bool accumulate) const {
    product->run({rows, matrices->columns[i], hidden, a, hidden, packed + matrices->offset[i], to,
                  stride, bias, accumulate});
  }
};

}  // namespace sardonyx
