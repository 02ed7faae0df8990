// GRU: gates z, r, h; the reset gate r acts on the state before its product with R, or after.
#include "ops/op.h"
#include "ops/rnn/activation_row.h"
#include "ops/rnn/recurrent_kernel.h"

namespace sardonyx {
namespace {

template <typename T>
struct GruCell {
  static constexpr int64_t kGates = 3;
  static constexpr std::span<const int> kMatrixGates = kGruGates;
  static constexpr int64_t kExtra = 1;

  ActivationRows<T> activations;
  bool linear_before_reset = false;

  bool adds_recurrent_bias(int64_t gate) const { return gate < 2 || !linear_before_reset; }

  void step(const CellArgs<T>& args) const {
    const int64_t n = args.hidden;
    const size_t first = static_cast<size_t>(args.direction) * 2;
    args.multiply(0, args.h, args.gates, kGates * n, nullptr, true);
    if (linear_before_reset) {
      const T* bias = args.recurrent_bias ? args.recurrent_bias + 2 * n : nullptr;
      args.multiply(1, args.h, args.extra, n, bias, false);
    }
    for (int64_t row = 0; row < args.rows; ++row) {
      if (!args.is_active(row)) continue;
      T* z = args.gates + row * kGates * n;
      const T* h = args.h + row * n;
      T *r = z + n, *g = z + 2 * n, *extra = args.extra + row * n;
      activations.apply(first, z, 2 * n);
      if (linear_before_reset) {
        for (int64_t j = 0; j < n; ++j) g[j] += r[j] * extra[j];
      } else {
        for (int64_t j = 0; j < n; ++j) extra[j] = r[j] * h[j];
      }
    }
    if (!linear_before_reset) {
      args.multiply(1, args.extra, args.gates + 2 * n, kGates * n, nullptr, true);
    }
    for (int64_t row = 0; row < args.rows; ++row) {
      if (!args.is_active(row)) continue;
      T *z = args.gates + row * kGates * n, *g = z + 2 * n, *h = args.h + row * n;
      activations.apply(first + 1, g, n);
      for (int64_t j = 0; j < n; ++j) h[j] = (1 - z[j]) * g[j] + z[j] * h[j];
    }
  }
};

constexpr RecurrentActivation kDefaults[] = {RecurrentActivation::kSigmoid,
                                             RecurrentActivation::kTanh};

void infer(InferContext& context) {
  infer_recurrent(context, parse_recurrent(context.node(), kDefaults), kGruGates);
}

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  const RecurrentParams params = parse_recurrent(context.node, kDefaults);
  const bool linear = context.node.attributes.get_int("linear_before_reset", 0) != 0;
  return prepare_recurrent<GruCell>(context, params, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    return GruCell<T>{ActivationRows<T>(params, context.isa), linear};
  });
}

#define GRU_OPERANDS "B: T?, sequence_lens: T1?, initial_h: T? -> Y: T?, "
#define GRU_INPUTS "X: T, W: T, R: T, " GRU_OPERANDS
#define GRU_ATTRIBUTES                                                                    \
  " | activation_alpha: floats?, activation_beta: floats?, activations: strings?, clip: " \
  "float?, hidden_size: int?, direction: string = "
constexpr OpVersion kVersions[] = {
    {1,
     GRU_INPUTS "Y_h: T" GRU_ATTRIBUTES "'foward', output_sequence: int = 0 | T: @ieee, T1: int32"},
    {3, GRU_INPUTS "Y_h: T?" GRU_ATTRIBUTES
                   "'forward', linear_before_reset: int = 0, output_sequence: int = 0 | T: @ieee, "
                   "T1: int32"},
    {7, GRU_INPUTS "Y_h: T?" GRU_ATTRIBUTES
                   "'forward', linear_before_reset: int = 0 | T: @ieee, T1: int32"},
    {14, GRU_INPUTS "Y_h: T?" GRU_ATTRIBUTES
                    "'forward', layout: int = 0, linear_before_reset: int = 0 | T: @ieee, T1: "
                    "int32"},
    {22, GRU_INPUTS "Y_h: T?" GRU_ATTRIBUTES
                    "'forward', layout: int = 0, linear_before_reset: int = 0 | T: @float, T1: "
                    "int32"},
};
constexpr OpVersion kPackedVersions[] = {
    {1, "X: T, W: U, R: U, " GRU_OPERANDS "Y_h: T?" GRU_ATTRIBUTES "'forward', input_size: "
        "int!, nr: int!, layout: int = 0, linear_before_reset: int = 0 | T: @float, U: float "
        "double, T1: int32"},
};
#undef GRU_OPERANDS
#undef GRU_INPUTS
#undef GRU_ATTRIBUTES

}  // namespace

extern const OpDef kGRU = {
    .domain = "", .name = "GRU", .versions = kVersions, .infer = infer, .prepare = prepare};

extern const OpDef kPackedGRU = {.domain = kInternalDomain,
                                 .name = "PackedGRU",
                                 .versions = kPackedVersions,
                                 .infer = infer,
                                 .prepare = prepare};

}  // namespace sardonyx
