// Constant arithmetic after Conv and ConvTranspose moves into their weights and bias. Equal up to
// rounding of the weights.
#include <algorithm>
#include <cmath>

#include "passes/numbers.h"
#include "passes/rules/params.h"
#include "passes/rules/rules.h"

namespace sardonyx::rules {
namespace {

constexpr Var x{0}, w{1}, b{2}, conv{3}, c{4}, scale{5}, shift{6}, mean{7}, variance{8};

Pattern convolution() {
  return one_of({op("Conv|ConvTranspose", {x, constant(w), constant(b)}).as(conv),
                 op("Conv|ConvTranspose", {x, constant(w)}).as(conv)});
}

bool is_transposed(const Match& m) { return m.node(conv).op == "ConvTranspose"; }

// Number of output channels: weights are [M, C/g, ...], transposed ones [C, M/g, ...].
int64_t channels(const Match& m) {
  const Shape& shape = m.constant(w).shape();
  const int64_t group = m.node(conv).attributes.get_int("group", 1);
  return is_transposed(m) ? shape[1] * group : shape[0];
}

// Can the weights be read, and are they what the operator asks for?
const char* check_conv(const Match& m) {
  const Tensor& weights = m.constant(w);
  if (!is_float(weights.type())) return "type";
  if (weights.shape().size() < 3) return "rank";
  const int64_t group = m.node(conv).attributes.get_int("group", 1);
  if (group < 1 || weights.shape()[0] % group != 0) return "group";
  if (m.has(b) && m.constant(b).size() != channels(m)) return "bias";
  return nullptr;
}

// One number per output channel from a constant that broadcasts along the channel axis only:
// [1,M,1,1], [M,1,1], or one element. nullopt for anything else.
std::optional<std::vector<double>> per_channel(const Match& m, const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  const size_t rank = m.constant(w).shape().size();
  auto values = read_floats(tensor);
  if (!values || shape.size() > rank) return std::nullopt;
  const auto count = static_cast<size_t>(channels(m));
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t axis = rank - shape.size() + i;
    if (shape[i] != 1 && !(axis == 1 && shape[i] == channels(m))) return std::nullopt;
  }
  if (values->size() == 1) values->assign(count, values->front());
  return values;
}

// W with output channel m multiplied by factors[m].
ValueId scaled_weights(Rewrite& r, const std::vector<double>& factors) {
  const Tensor& weights = r.constant(w);
  std::vector<double> values = *read_floats(weights);
  const Shape& shape = weights.shape();
  const auto inner = static_cast<size_t>(element_count(shape, 2, shape.size()));
  const auto columns = static_cast<size_t>(shape[1]);
  const auto group = static_cast<size_t>(r.node(conv).attributes.get_int("group", 1));
  const size_t rows_per_group = static_cast<size_t>(shape[0]) / group;
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t row = i / inner / columns;
    const size_t column = i / inner % columns;
    const size_t channel = is_transposed(r) ? row / rows_per_group * columns + column : row;
    values[i] *= factors[channel];
  }
  return r.floats(weights.type(), shape, values);
}

std::vector<double> bias_values(const Match& m) {
  if (m.has(b)) return *read_floats(m.constant(b));
  return std::vector<double>(static_cast<size_t>(channels(m)), 0.0);
}

ValueId emit_conv(Rewrite& r, ValueId weights, const std::vector<double>& bias) {
  const Node& node = r.node(conv);
  const ValueId bias_id =
      r.floats(r.constant(w).type(), Shape{static_cast<int64_t>(bias.size())}, bias);
  return r.emit({node.op, node.version}, {r[x], weights, bias_id}, node.attributes);
}

const char* check_batch_norm(const Match& m) {
  if (const char* reason = check_conv(m)) return reason;
  const Node& node = m.root();
  if (node.attributes.get_int("training_mode", 0) != 0) return "training";
  if (node.version < 7 && node.attributes.get_int("is_test", 0) == 0) return "training";
  if (node.version < 9 && node.attributes.get_int("spatial", 1) == 0) return "not per channel";
  for (Var parameter : {scale, shift, mean, variance}) {
    if (m.constant(parameter).size() != channels(m)) return "not per channel";
    if (!is_float(m.constant(parameter).type())) return "type";
  }
  return nullptr;
}

ValueId fold_batch_norm(Rewrite& r) {
  const double epsilon = r.root().attributes.get_float("epsilon", 1e-5f);
  std::vector<double> factors = *read_floats(r.constant(scale));
  const std::vector<double> shifts = *read_floats(r.constant(shift));
  const std::vector<double> means = *read_floats(r.constant(mean));
  const std::vector<double> variances = *read_floats(r.constant(variance));
  std::vector<double> bias = bias_values(r);
  for (size_t i = 0; i < factors.size(); ++i) {
    factors[i] /= std::sqrt(variances[i] + epsilon);
    bias[i] = (bias[i] - means[i]) * factors[i] + shifts[i];
  }
  return emit_conv(r, scaled_weights(r, factors), bias);
}

const char* check_per_channel(const Match& m) {
  if (const char* reason = check_conv(m)) return reason;
  return per_channel(m, m.constant(c)) ? nullptr : "not per channel";
}

ValueId fold_mul(Rewrite& r) {
  const std::vector<double> factors = *per_channel(r, r.constant(c));
  std::vector<double> bias = bias_values(r);
  for (size_t i = 0; i < bias.size(); ++i) bias[i] *= factors[i];
  return emit_conv(r, scaled_weights(r, factors), bias);
}

ValueId fold_add(Rewrite& r) {
  const std::vector<double> added = *per_channel(r, r.constant(c));
  std::vector<double> bias = bias_values(r);
  for (size_t i = 0; i < bias.size(); ++i) bias[i] += added[i];
  return emit_conv(r, r[w], bias);
}

}  // namespace

std::vector<Rule> conv_rules() {
  return {
      {"conv_batch_norm",
       op("BatchNormalization",
          {convolution(), constant(scale), constant(shift), constant(mean), constant(variance)}),
       check_batch_norm, fold_batch_norm},
      {"conv_mul", op("Mul", {convolution(), constant(c)}), check_per_channel, fold_mul},
      {"conv_add", op("Add", {convolution(), constant(c)}), check_per_channel, fold_add},
  };
}

}  // namespace sardonyx::rules
