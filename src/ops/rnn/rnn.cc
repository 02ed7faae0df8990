// RNN: one gate, which is the next state.
#include "ops/op.h"
#include "ops/rnn/activation_row.h"
#include "ops/rnn/recurrent_kernel.h"

namespace sardonyx {
namespace {

template <typename T>
struct RnnCell {
  static constexpr int64_t kGates = 1;
  static constexpr std::span<const int> kMatrixGates = kRnnGates;
  static constexpr int64_t kExtra = 0;

  ActivationRows<T> activations;

  bool adds_recurrent_bias(int64_t) const { return true; }

  void step(const CellArgs<T>& args) const {
    const int64_t n = args.hidden;
    args.multiply(0, args.h, args.gates, n, nullptr, true);
    for (int64_t row = 0; row < args.rows; ++row) {
      if (!args.is_active(row)) continue;
      T* gate = args.gates + row * n;
      activations.apply(static_cast<size_t>(args.direction), gate, n);
      std::copy_n(gate, n, args.h + row * n);
    }
  }
};

constexpr RecurrentActivation kDefaults[] = {RecurrentActivation::kTanh};

void infer(InferContext& context) {
  infer_recurrent(context, parse_recurrent(context.node(), kDefaults), kRnnGates);
}

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  const RecurrentParams params = parse_recurrent(context.node, kDefaults);
  return prepare_recurrent<RnnCell>(context, params, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    return RnnCell<T>{ActivationRows<T>(params, context.isa)};
  });
}

#define RNN_OPERANDS                                                                         \
  "B: T?, sequence_lens: T1?, initial_h: T? -> Y: T?, Y_h: T? | activation_alpha: floats?, " \
  "activation_beta: floats?, activations: strings = ['Tanh', 'Tanh'], clip: float?, "        \
  "direction: string = 'forward', hidden_size: int?"
#define RNN_SCHEMA "X: T, W: T, R: T, " RNN_OPERANDS
constexpr OpVersion kVersions[] = {
    {1, RNN_SCHEMA ", output_sequence: int = 0 | T: @ieee, T1: int32"},
    {7, RNN_SCHEMA " | T: @ieee, T1: int32"},
    {14, RNN_SCHEMA ", layout: int = 0 | T: @ieee, T1: int32"},
    {22, RNN_SCHEMA ", layout: int = 0 | T: @float, T1: int32"},
};
constexpr OpVersion kPackedVersions[] = {
    {1, "X: T, W: U, R: U, " RNN_OPERANDS
        ", input_size: int!, nr: int!, layout: int = 0 | T: @float, U: float double, T1: int32"},
};
#undef RNN_SCHEMA
#undef RNN_OPERANDS

}  // namespace

extern const OpDef kRNN = {
    .domain = "", .name = "RNN", .versions = kVersions, .infer = infer, .prepare = prepare};

extern const OpDef kPackedRNN = {.domain = kInternalDomain,
                                 .name = "PackedRNN",
                                 .versions = kPackedVersions,
                                 .infer = infer,
                                 .prepare = prepare};

}  // namespace sardonyx
