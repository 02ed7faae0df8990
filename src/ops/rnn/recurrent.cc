#include "ops/rnn/recurrent.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "ops/op.h"
#include "ops/rnn/packed_matrices.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

struct ActivationRow {
  std::string_view name;  // in lower case: files spell them both ways
  RecurrentActivation kind;
  bool has_alpha, has_beta;
  float alpha, beta;
};

using Kind = RecurrentActivation;
constexpr ActivationRow kActivations[] = {
    {"relu", Kind::kRelu, false, false, 0.0f, 0.0f},
    {"tanh", Kind::kTanh, false, false, 0.0f, 0.0f},
    {"sigmoid", Kind::kSigmoid, false, false, 0.0f, 0.0f},
    {"affine", Kind::kAffine, true, true, 1.0f, 0.0f},
    {"leakyrelu", Kind::kLeakyRelu, true, false, 0.01f, 0.0f},
    {"thresholdedrelu", Kind::kThresholdedRelu, true, false, 1.0f, 0.0f},
    {"scaledtanh", Kind::kScaledTanh, true, true, 1.0f, 1.0f},
    {"hardsigmoid", Kind::kHardSigmoid, true, true, 0.2f, 0.5f},
    {"elu", Kind::kElu, true, false, 1.0f, 0.0f},
    {"softsign", Kind::kSoftsign, false, false, 0.0f, 0.0f},
    {"softplus", Kind::kSoftplus, false, false, 0.0f, 0.0f},
};

[[noreturn]] void refuse(const Node& node, const std::string& message) {
  throw Error(ErrorCode::kInvalidGraph, fmt::format("{}: {}", describe(node), message));
}

const ActivationRow& row_of(RecurrentActivation kind) {
  return *std::find_if(std::begin(kActivations), std::end(kActivations),
                       [&](const ActivationRow& row) { return row.kind == kind; });
}

const ActivationRow& row_of(const Node& node, const std::string& name) {
  std::string lower = name;
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  for (const ActivationRow& row : kActivations) {
    if (row.name == lower) return row;
  }
  refuse(node, fmt::format("activation '{}' is not one of Affine, Elu, HardSigmoid, LeakyRelu, "
                           "Relu, ScaledTanh, Sigmoid, Softplus, Softsign, Tanh, ThresholdedRelu",
                           name));
}

void parse_activations(const Node& node, std::span<const RecurrentActivation> defaults,
                       RecurrentParams& params) {
  const std::vector<std::string> names = node.attributes.get_strings("activations");
  const size_t needed = defaults.size() * static_cast<size_t>(params.directions);
  // RNN's own default has two for its one direction.
  const bool is_default_of_rnn = defaults.size() == 1 && names.size() == 2;
  if (!names.empty() && names.size() != needed && !is_default_of_rnn) {
    refuse(node,
           fmt::format("activations has {} names for direction '{}'; expected {}", names.size(),
                       node.attributes.get_string("direction", "forward"), needed));
  }
  const std::vector<float> alphas = node.attributes.get_floats("activation_alpha");
  const std::vector<float> betas = node.attributes.get_floats("activation_beta");
  size_t alpha = 0, beta = 0;
  for (size_t i = 0; i < needed; ++i) {
    const ActivationRow& row =
        names.empty() ? row_of(defaults[i % defaults.size()]) : row_of(node, names[i]);
    ActivationSpec spec{row.kind, row.alpha, row.beta};
    if (row.has_alpha && alpha < alphas.size()) spec.alpha = alphas[alpha++];
    if (row.has_beta && beta < betas.size()) spec.beta = betas[beta++];
    params.activations.push_back(spec);
  }
}

void parse_packing(const Node& node, RecurrentParams& params) {
  params.nr = node.attributes.get_int("nr", 0);
  params.input_size = node.attributes.get_int("input_size", -1);
  // Below these the sizes of the packed matrices fit 63 bits.
  if (params.nr < 1 || params.nr > 1024 || params.hidden_size < 0 ||
      params.hidden_size > int64_t{1} << 28 || params.input_size < 0 ||
      params.input_size > INT32_MAX) {
    refuse(node, fmt::format("hidden_size {}, input_size {}, nr {} describe no packed weights",
                             params.hidden_size, params.input_size, params.nr));
  }
}

// Input i's shape when its rank is known; fails when that is not `rank`.
const Dims* shape_of_rank(InferContext& context, size_t i, size_t rank, std::string_view name) {
  const SymShape& shape = context.input_shape(i);
  if (!shape) return nullptr;
  if (shape->size() != rank) {
    context.fail(fmt::format("{} has {} dimensions; expected {}", name, shape->size(), rank));
  }
  return &*shape;
}

// Notes that dimension `found` of `name` is also `dim`; keeps the better known of the two.
void unify(InferContext& context, std::string_view name, Dim& dim, const Dim& found) {
  if (dim.is_known() && found.is_known() && dim != found) {
    context.fail(
        fmt::format("{} has a dimension of {}; expected {}", name, found.value, dim.value));
  }
  if (dim.is_unknown() || found.is_known()) dim = found;
}

}  // namespace

RecurrentParams parse_recurrent(const Node& node, std::span<const RecurrentActivation> defaults) {
  RecurrentParams params;
  const std::string direction(node.attributes.get_string("direction", "forward"));
  if (direction == "bidirectional") {
    params.directions = 2;
  } else if (direction == "reverse") {
    params.reverse = true;
  } else if (direction != "forward" && direction != "foward") {  // GRU-1's default is misspelt
    refuse(node,
           fmt::format("direction '{}'; expected forward, reverse or bidirectional", direction));
  }
  const int64_t layout = node.attributes.get_int("layout", 0);
  if (layout != 0 && layout != 1) refuse(node, fmt::format("layout {}; expected 0 or 1", layout));
  params.batch_first = layout == 1;
  params.hidden_size = node.attributes.get_int("hidden_size", -1);
  if (params.hidden_size < 1 && node.attributes.contains("hidden_size")) {
    refuse(node, fmt::format("hidden_size is {}; expected a positive number", params.hidden_size));
  }
  params.clip = node.attributes.get_float("clip", params.clip);
  if (!(params.clip >= 0.0f)) {
    refuse(node, fmt::format("clip is {}; expected 0 or more", params.clip));
  }
  parse_activations(node, defaults, params);
  if (node.domain == kInternalDomain) parse_packing(node, params);
  return params;
}

void infer_recurrent(InferContext& context, const RecurrentParams& params,
                     std::span<const int> matrix_gates) {
  const int all_gates[] = {std::accumulate(matrix_gates.begin(), matrix_gates.end(), 0)};
  const int gates = all_gates[0];
  DimTable& dims = context.dims();
  const Dim directions(params.directions);
  const size_t batch_axis = params.batch_first ? 0 : 1;
  Dim steps, batch, input, hidden;
  if (params.is_packed()) input = Dim(params.input_size);
  if (params.hidden_size >= 0) hidden = Dim(params.hidden_size);
  if (const Dims* x = shape_of_rank(context, 0, 3, "X")) {
    steps = (*x)[1 - batch_axis];
    batch = (*x)[batch_axis];
    unify(context, "X", input, (*x)[2]);
  }
  const auto check = [&](size_t i, std::string_view name, std::initializer_list<Dim*> expected) {
    if (!context.has_input(i)) return;
    const Dims* shape = shape_of_rank(context, i, expected.size(), name);
    if (shape == nullptr) return;
    size_t axis = 0;
    for (Dim* dim : expected) unify(context, name, *dim, (*shape)[axis++]);
  };
  Dim d = directions;
  if (params.is_packed()) {
    const int64_t n = params.hidden_size;
    Dim w(PackedMatrices(all_gates, n, params.input_size, params.nr).elements);
    Dim r(PackedMatrices(matrix_gates, n, n, params.nr).elements);
    check(1, "the packed W", {&d, &w});
    check(2, "the packed R", {&d, &r});
  } else {
    const SymShape& r = context.input_shape(2);
    if (r && r->size() == 3 && (*r)[2].is_known() && hidden.is_known() && (*r)[2] != hidden) {
      context.fail(fmt::format("hidden_size is {}, R is for {}", hidden.value, (*r)[2].value));
    }
    Dim any_rows;
    check(2, "R", {&d, &any_rows, &hidden});  // for the hidden size; the rows follow from it
    Dim rows = dims.mul(hidden, Dim(gates));
    check(2, "R", {&d, &rows, &hidden});
    check(1, "W", {&d, &rows, &input});
  }
  Dim biases = dims.mul(hidden, Dim(2 * gates));
  check(3, "B", {&d, &biases});
  check(4, "sequence_lens", {&batch});
  const auto check_state = [&](size_t i, std::string_view name) {
    if (params.batch_first) {
      check(i, name, {&batch, &d, &hidden});
    } else {
      check(i, name, {&d, &batch, &hidden});
    }
  };
  check_state(5, "initial_h");
  check_state(6, "initial_c");
  Dim peepholes = dims.mul(hidden, Dim(3));
  check(7, "P", {&d, &peepholes});

  const DataType element = context.input_element(0);
  const Dims state =
      params.batch_first ? Dims{batch, directions, hidden} : Dims{directions, batch, hidden};
  context.set_output(0, element,
                     params.batch_first ? Dims{batch, steps, directions, hidden}
                                        : Dims{steps, directions, batch, hidden});
  context.set_output(1, element, state);
  context.set_output(2, element, state);
}

}  // namespace sardonyx
