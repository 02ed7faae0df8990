// Nodes that change nothing: their input takes their place. The engine proves that the shape is
// kept.
#include <algorithm>

#include "passes/numbers.h"
#include "passes/rules/params.h"
#include "passes/rules/rules.h"

namespace sardonyx::rules {
namespace {

constexpr Var x{0}, c{1}, a{2}, b{3};

ValueId keep_x(Rewrite& r) { return r[x]; }

// A one-element constant of no higher rank than x cannot change x's shape.
ValueId keep_x_beside_constant(Rewrite& r) {
  if (r.constant(c).size() == 1 && r.rank(x) && r.constant(c).shape().size() <= *r.rank(x)) {
    r.trust_shape();
  }
  return r[x];
}

ValueId keep_x_and_its_shape(Rewrite& r) {
  r.trust_shape();
  return r[x];
}

const char* same_type(const Match& m) {
  return m.graph().value(m.root().output(0)).type.element == m.element(x) ? nullptr : "other type";
}

template <int kNumber>
const char* all_are(const Match& m) {
  return all_equal(m.constant(c), kNumber) ? nullptr : "other constant";
}

// Dropout-12 and later train when input 2 says so, Dropout-1 and -6 unless is_test is set.
bool is_inference_dropout(const Graph& graph, const Node& node) {
  if (node.version < 7) return node.attributes.get_int("is_test", 0) != 0;
  const ValueId training = node.input(2);
  return training == ValueId::kNone || all_equal(graph.value(training).constant, 0);
}

bool has_positive_steps(const Graph& graph, const Node& node) {
  const ValueId steps = node.input(4);
  if (steps == ValueId::kNone) return true;
  if (!graph.value(steps).is_constant()) return false;
  const auto values = integer_values(graph.value(steps).constant);
  return std::all_of(values.begin(), values.end(), [](int64_t step) { return step > 0; });
}

bool has_identity_perm(const Graph&, const Node& node) {
  const std::vector<int64_t> perm = node.attributes.get_ints("perm");
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return !perm.empty();
}

bool pads_nothing(const Graph& graph, const Node& node) {
  std::vector<int64_t> pads =
      node.attributes.get_ints("pads", node.attributes.get_ints("paddings"));
  if (node.version >= 11) {
    const Tensor& tensor = graph.value(node.input(1)).constant;
    if (!tensor.is_defined()) return false;
    for (int64_t pad : integer_values(tensor)) pads.push_back(pad);
  }
  return std::all_of(pads.begin(), pads.end(), [](int64_t pad) { return pad == 0; });
}

bool has_one_output(const Graph&, const Node& node) { return node.outputs.size() == 1; }

}  // namespace

std::vector<Rule> noop_rules() {
  return {
      {"identity", op("Identity", {x}), nullptr, keep_x_and_its_shape},
      {"cast_to_same", op("Cast", {x}), same_type, keep_x_and_its_shape},
      {"dropout_inference", op("Dropout", {x}).with_more_inputs().where(is_inference_dropout),
       nullptr, keep_x_and_its_shape},
      {"add_zero", one_of({op("Add", {x, constant(c)}), op("Sub", {x, constant(c)})}), all_are<0>,
       keep_x_beside_constant},
      {"mul_one", one_of({op("Mul", {x, constant(c)}), op("Div|Pow", {x, constant(c)})}),
       all_are<1>, keep_x_beside_constant},
      {"transpose_noop", op("Transpose", {x}).where(has_identity_perm), nullptr,
       keep_x_and_its_shape},
      {"reshape_noop", op("Reshape|Squeeze|Unsqueeze|Flatten|Expand", {x}).with_more_inputs(),
       nullptr, keep_x},
      {"slice_noop", op("Slice", {x}).with_more_inputs().where(has_positive_steps), nullptr,
       keep_x},
      {"pad_noop", op("Pad", {x}).with_more_inputs().where(pads_nothing), nullptr,
       keep_x_and_its_shape},
      {"tile_noop", op("Tile", {x, constant(c)}), all_are<1>, keep_x_and_its_shape},
      {"single_input", op("Concat|Sum|Max|Min|Mean", {x}), nullptr, keep_x_and_its_shape},
      {"split_noop", op("Split", {x}).with_more_inputs().where(has_one_output), nullptr, keep_x},
      {"relu_twice",
       op("Relu", {op("Relu|Sigmoid|HardSigmoid|Softplus|Abs", {any()}).as(x).shared()}), nullptr,
       keep_x_and_its_shape},
      {"where_not", op("Where", {op("Not", {c}).shared(), a, b}), nullptr,
       [](Rewrite& r) {
         return r.emit({"Where", 9}, {r[c], r[b], r[a]});
       }},
  };
}

}  // namespace sardonyx::rules
