// LSTM: gates i, o, f, c; peepholes for i, o, f. The clip applies to what every activation gets,
// also to the cell state that h gets, as the standard says; onnxruntime leaves that one as it is.
#include "ops/op.h"
#include "ops/rnn/activation_row.h"
#include "ops/rnn/recurrent_kernel.h"

namespace sardonyx {
namespace {

template <typename T>
struct LstmCell {
  static constexpr int64_t kGates = 4;
  static constexpr std::span<const int> kMatrixGates = kLstmGates;
  static constexpr int64_t kExtra = 0;

  ActivationRows<T> activations;
  bool input_forget = false;  // f = 1 - i

  bool adds_recurrent_bias(int64_t) const { return true; }

  void step(const CellArgs<T>& args) const {
    const int64_t n = args.hidden;
    const size_t first = static_cast<size_t>(args.direction) * 3;
    args.multiply(0, args.h, args.gates, kGates * n, nullptr, true);
    for (int64_t row = 0; row < args.rows; ++row) {
      if (!args.is_active(row)) continue;
      T* i = args.gates + row * kGates * n;
      T *o = i + n, *f = i + 2 * n, *g = i + 3 * n;
      T *h = args.h + row * n, *c = args.c + row * n;
      if (args.peepholes != nullptr) {
        add_product(args.peepholes, c, i, n);
        add_product(args.peepholes + 2 * n, c, f, n);
        activations.apply(first, i, n);
        if (!input_forget) activations.apply(first, f, n);
      } else {
        activations.apply(first, i, input_forget ? 2 * n : 3 * n);
      }
      activations.apply(first + 1, g, n);
      if (input_forget) {
        for (int64_t j = 0; j < n; ++j) c[j] = (1 - i[j]) * c[j] + i[j] * g[j];
      } else {
        for (int64_t j = 0; j < n; ++j) c[j] = f[j] * c[j] + i[j] * g[j];
      }
      if (args.peepholes != nullptr) {
        add_product(args.peepholes + n, c, o, n);
        activations.apply(first, o, n);
      }
      std::copy_n(c, n, g);
      activations.apply(first + 2, g, n);
      for (int64_t j = 0; j < n; ++j) h[j] = o[j] * g[j];
    }
  }

  static void add_product(const T* a, const T* b, T* to, int64_t n) {
    for (int64_t j = 0; j < n; ++j) to[j] += a[j] * b[j];
  }
};

constexpr RecurrentActivation kDefaults[] = {
    RecurrentActivation::kSigmoid, RecurrentActivation::kTanh, RecurrentActivation::kTanh};

void infer(InferContext& context) {
  infer_recurrent(context, parse_recurrent(context.node(), kDefaults), kLstmGates);
}

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  const RecurrentParams params = parse_recurrent(context.node, kDefaults);
  const bool input_forget = context.node.attributes.get_int("input_forget", 0) != 0;
  return prepare_recurrent<LstmCell>(context, params, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    return LstmCell<T>{ActivationRows<T>(params, context.isa), input_forget};
  });
}

#define LSTM_OPERANDS                                                                       \
  "B: T?, sequence_lens: T1?, initial_h: T?, initial_c: T?, P: T? -> Y: T?, Y_h: T?, Y_c: " \
  "T? | activation_alpha: floats?, activation_beta: floats?, activations: strings?, clip: " \
  "float?, direction: string = 'forward', hidden_size: int?, input_forget: int = 0"
#define LSTM_SCHEMA "X: T, W: T, R: T, " LSTM_OPERANDS
constexpr OpVersion kVersions[] = {
    {1, LSTM_SCHEMA ", output_sequence: int = 0 | T: @ieee, T1: int32"},
    {7, LSTM_SCHEMA " | T: @ieee, T1: int32"},
    {14, LSTM_SCHEMA ", layout: int = 0 | T: @ieee, T1: int32"},
    {22, LSTM_SCHEMA ", layout: int = 0 | T: @float, T1: int32"},
};
constexpr OpVersion kPackedVersions[] = {
    {1, "X: T, W: U, R: U, " LSTM_OPERANDS
        ", input_size: int!, nr: int!, layout: int = 0 | T: @float, U: float double, T1: int32"},
};
#undef LSTM_SCHEMA
#undef LSTM_OPERANDS

}  // namespace

extern const OpDef kLSTM = {
    .domain = "", .name = "LSTM", .versions = kVersions, .infer = infer, .prepare = prepare};

extern const OpDef kPackedLSTM = {.domain = kInternalDomain,
                                  .name = "PackedLSTM",
                                  .versions = kPackedVersions,
                                  .infer = infer,
                                  .prepare = prepare};

}  // namespace sardonyx
