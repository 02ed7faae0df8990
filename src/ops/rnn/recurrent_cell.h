// A cell of a recurrent operator: what happens to the states of some batch rows in one step.
//
// A Cell<T> has
//   kGates           gates in W and R
//   kMatrixGates     how many gates each packed matrix of R holds, in order
//   kExtra           vectors of hidden size that it wants as scratch for each batch row
//   adds_recurrent_bias(gate)   whether R's bias may be added to W's ahead of time
//   step(CellArgs)   one step of some batch rows
// Written by the three operators, called by RecurrentKernel.
#pragma once

#include <cstdint>

#include "ops/rnn/packed_matrices.h"
#include "ops/rnn/panel_product.h"

namespace sardonyx {

// One step of `rows` batch rows in one direction.
template <typename T>
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
  const PackedMatrices* matrices = nullptr;
  const T* packed = nullptr;

  bool is_active(int64_t row) const { return lengths == nullptr || step < lengths[row]; }
  // to = a [rows, hidden] * matrix i of R (+ bias, + to).
  void multiply(size_t i, const T* a, T* to, int64_t stride, const T* bias, bool accumulate) const {
    product->run({rows, matrices->columns[i], hidden, a, hidden, packed + matrices->offset[i], to,
                  stride, bias, accumulate});
  }
};

}  // namespace sardonyx
