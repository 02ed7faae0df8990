// Constant arithmetic before Conv moves into its weights and bias, zero padding into its pads. The
// value before may have other users: nothing is computed twice.
#include <algorithm>

#include "passes/numbers.h"
#include "passes/rules/params.h"
#include "passes/rules/rules.h"

namespace sardonyx::rules {
namespace {

constexpr Var x{0}, w{1}, b{2}, c{3}, pads{4};

int64_t group_of(const Match& m) { return m.root().attributes.get_int("group", 1); }
int64_t in_channels(const Match& m) { return m.constant(w).shape()[1] * group_of(m); }

// One number per input channel from [1,C,1,1], [C,1,1] or one element; nullopt for anything else.
std::optional<std::vector<double>> per_channel(const Match& m) {
  const Shape& shape = m.constant(c).shape();
  const size_t rank = m.constant(w).shape().size();
  auto values = read_floats(m.constant(c));
  if (!values || shape.size() > rank) return std::nullopt;
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t axis = rank - shape.size() + i;
    if (shape[i] != 1 && !(axis == 1 && shape[i] == in_channels(m))) return std::nullopt;
  }
  if (values->size() == 1) values->assign(static_cast<size_t>(in_channels(m)), values->front());
  return values;
}

// The input must have the weights' rank and channels already, or the constant shaped it.
const char* check_constant(const Match& m) {
  const Tensor& weights = m.constant(w);
  if (!is_float(weights.type())) return "type";
  if (weights.shape().size() < 3 || !m.rank(x) || *m.rank(x) != weights.shape().size()) {
    return "rank";
  }
  const int64_t group = group_of(m);
  if (group < 1 || weights.shape()[0] % group != 0) return "group";
  if (!(*m.shape(x))[1].is(in_channels(m))) return "channels";
  return per_channel(m) ? nullptr : "not per channel";
}

// Visits every weight with its number of output and input channel.
template <typename Visit>
void for_each_weight(const Match& m, Visit visit) {
  const Shape& shape = m.constant(w).shape();
  const int64_t inner = element_count(shape, 2, shape.size());
  const int64_t rows_per_group = shape[0] / group_of(m);
  for (int64_t i = 0; i < element_count(shape); ++i) {
    const int64_t row = i / inner / shape[1];
    const int64_t column = i / inner % shape[1];
    visit(static_cast<size_t>(i), static_cast<size_t>(row),
          static_cast<size_t>(row / rows_per_group * shape[1] + column));
  }
}

ValueId take_mul(Rewrite& r) {
  const std::vector<double> factors = *per_channel(r);
  std::vector<double> values = *read_floats(r.constant(w));
  for_each_weight(r, [&](size_t i, size_t, size_t channel) { values[i] *= factors[channel]; });
  ValueIds inputs = r.root().inputs;
  inputs[0] = r[x];
  inputs[1] = r.floats(r.constant(w).type(), r.constant(w).shape(), values);
  return r.emit({"Conv", r.root().version}, inputs, r.root().attributes);
}

const char* check_add(const Match& m) {
  if (const char* reason = check_constant(m)) return reason;
  // Zeros around the sum are not zeros around x.
  const std::string auto_pad = m.root().attributes.get_string("auto_pad", "NOTSET");
  const std::vector<int64_t> padding = m.root().attributes.get_ints("pads");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") return "padded";
  if (auto_pad == "NOTSET" &&
      std::any_of(padding.begin(), padding.end(), [](int64_t pad) { return pad != 0; })) {
    return "padded";
  }
  if (m.has(b) && m.constant(b).size() != m.constant(w).shape()[0]) return "bias";
  return nullptr;
}

ValueId take_add(Rewrite& r) {
  const std::vector<double> added = *per_channel(r);
  const std::vector<double> values = *read_floats(r.constant(w));
  std::vector<double> bias(static_cast<size_t>(r.constant(w).shape()[0]), 0.0);
  if (r.has(b)) bias = *read_floats(r.constant(b));
  for_each_weight(
      r, [&](size_t i, size_t row, size_t channel) { bias[row] += values[i] * added[channel]; });
  const ValueId bias_id =
      r.floats(r.constant(w).type(), Shape{static_cast<int64_t>(bias.size())}, bias);
  return r.emit({"Conv", r.root().version}, {r[x], r[w], bias_id}, r.root().attributes);
}

Pattern convolution_of(const Pattern& input) {
  return one_of({op("Conv", {input, constant(w), constant(b)}), op("Conv", {input, constant(w)})});
}

// The pads of a constant Pad by zero, first all begins, then all ends; nullopt otherwise.
std::optional<std::vector<int64_t>> zero_pads(const Graph& graph, const Node& node) {
  if (node.attributes.get_string("mode", "constant") != "constant") return std::nullopt;
  if (node.version < 11) {
    if (node.attributes.get_float("value", 0) != 0) return std::nullopt;
    return node.attributes.get_ints("pads", node.attributes.get_ints("paddings"));
  }
  const Tensor& tensor = graph.value(node.input(1)).constant;
  if (!tensor.is_defined() || node.input(3) != ValueId::kNone) return std::nullopt;
  if (node.input(2) != ValueId::kNone && !all_equal(graph.value(node.input(2)).constant, 0)) {
    return std::nullopt;
  }
  const auto values = integer_values(tensor);
  return std::vector<int64_t>(values.begin(), values.end());
}

const char* check_pad(const Match& m) {
  const auto values = zero_pads(m.graph(), m.node(pads));
  if (!values) return "not constant zeros";
  const std::string auto_pad = m.root().attributes.get_string("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") return "auto_pad";
  if (!m.rank(x) || values->size() != 2 * *m.rank(x) || *m.rank(x) < 3) return "rank";
  const size_t rank = *m.rank(x);
  for (size_t axis : {size_t{0}, size_t{1}, rank, rank + 1}) {
    if ((*values)[axis] != 0) return "not spatial";
  }
  constexpr int64_t kMostPad = int64_t{1} << 30;
  const bool fits = std::all_of(values->begin(), values->end(),
                                [](int64_t pad) { return pad >= 0 && pad <= kMostPad; });
  return fits ? nullptr : "negative or huge";
}

ValueId fold_pad(Rewrite& r) {
  const std::vector<int64_t> added = *zero_pads(r.graph(), r.node(pads));
  const size_t rank = *r.rank(x);
  Attributes attributes = r.root().attributes;
  std::vector<int64_t> merged = attributes.get_ints("pads");
  if (attributes.get_string("auto_pad", "NOTSET") == "VALID") merged.clear();
  merged.resize(2 * (rank - 2), 0);
  for (size_t i = 0; i < rank - 2; ++i) {
    merged[i] += added[2 + i];
    merged[rank - 2 + i] += added[rank + 2 + i];
  }
  attributes.erase("auto_pad");
  attributes.set("pads", merged);
  ValueIds inputs = r.root().inputs;
  inputs[0] = r[x];
  return r.emit({"Conv", r.root().version}, inputs, std::move(attributes));
}

}  // namespace

std::vector<Rule> conv_input_rules() {
  return {
      {"conv_input_mul", convolution_of(op("Mul", {x, constant(c)}).shared()), check_constant,
       take_mul},
      {"conv_input_add", convolution_of(op("Add", {x, constant(c)}).shared()), check_add, take_add},
      {"conv_pad",
       op("Conv", {op("Pad", {x}).with_more_inputs().as(pads).shared()}).with_more_inputs(),
       check_pad, fold_pad},
  };
}

}  // namespace sardonyx::rules
