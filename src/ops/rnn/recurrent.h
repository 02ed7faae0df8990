// The attributes, activations and shape rules that LSTM, GRU and RNN share. Inputs are X, W, R, B,
// sequence_lens, initial_h and, for LSTM, initial_c and P; outputs Y, Y_h and, for LSTM, Y_c. W, R
// and B hold the gates one after the other; every tensor but X and Y has one part per direction.
// The internal operators PackedLSTM, PackedGRU and PackedRNN are the same with W and R as
// PackRecurrent lays them out. Used by the six operators.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "ops/infer.h"

namespace sardonyx {

enum class RecurrentActivation : uint8_t {
  kRelu,
  kTanh,
  kSigmoid,
  kAffine,
  kLeakyRelu,
  kThresholdedRelu,  // keeps x = alpha, unlike the operator of that name
  kScaledTanh,
  kHardSigmoid,
  kElu,
  kSoftsign,
  kSoftplus,
};

struct ActivationSpec {
  RecurrentActivation kind = RecurrentActivation::kTanh;
  float alpha = 0.0f;
  float beta = 0.0f;
};

struct RecurrentParams {
  int directions = 1;
  bool reverse = false;                                 // the only direction is backward
  bool batch_first = false;                             // layout 1
  int64_t hidden_size = -1;                             // -1: not given
  float clip = std::numeric_limits<float>::infinity();  // of what goes into an activation
  std::vector<ActivationSpec> activations;              // direction after direction
  // Of an internal operator: W and R are packed for tiles of nr columns.
  int64_t nr = 0;
  int64_t input_size = -1;

  bool is_packed() const { return nr != 0; }
  bool is_reverse(int direction) const { return reverse || direction == 1; }
  bool has_clip() const { return clip < std::numeric_limits<float>::infinity(); }
};

// `defaults` are the activations of one direction. alpha and beta lists are consumed in order by
// the activations that have such a parameter. Throws Error(kInvalidGraph).
RecurrentParams parse_recurrent(const Node& node, std::span<const RecurrentActivation> defaults);

// `matrix_gates`: how many gates each matrix of R holds (packed_matrices.h).
void infer_recurrent(InferContext& context, const RecurrentParams& params,
                     std::span<const int> matrix_gates);

}  // namespace sardonyx
