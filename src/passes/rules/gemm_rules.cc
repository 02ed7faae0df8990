// Gemm: transposes of its inputs become its attributes, a constant added to it becomes its C.
#include "passes/rules/params.h"
#include "passes/rules/rules.h"

namespace sardonyx::rules {
namespace {

constexpr Var a{0}, b{1}, c{2}, gemm{3};

bool swaps_two_axes(const Graph& graph, const Node& node) {
  const std::vector<int64_t> perm = node.attributes.get_ints("perm");
  const SymShape& shape = graph.value(node.input(0)).type.shape;
  return shape && shape->size() == 2 && (perm.empty() || perm == std::vector<int64_t>{1, 0});
}

Pattern transposed(Var x) { return op("Transpose", {x}).where(swaps_two_axes).shared(); }

ValueId flip(Rewrite& r, const char* attribute) {
  Attributes attributes = r.root().attributes;
  const int64_t flag = attributes.get_int(attribute, 0);
  attributes.set(attribute, static_cast<int64_t>(flag == 0));
  ValueIds inputs = r.root().inputs;
  inputs[0] = r[a];
  inputs[1] = r[b];
  return r.emit({"Gemm", r.root().version}, inputs, std::move(attributes));
}

// Does the constant broadcast to the output of Gemm without making it larger?
const char* check_addend(const Match& m) {
  if (m.node(gemm).version < 7) return "opset";
  const Shape& shape = m.constant(c).shape();
  const SymShape& out = m.shape(gemm);
  if (!out || out->size() != 2 || shape.size() > 2) return "shape";
  for (size_t i = 0; i < shape.size(); ++i) {
    const Dim dim = (*out)[2 - shape.size() + i];
    if (shape[i] != 1 && !dim.is(shape[i])) return "shape";
  }
  return nullptr;
}

ValueId add_c(Rewrite& r) {
  Attributes attributes = r.node(gemm).attributes;
  attributes.erase("beta");
  return r.emit({"Gemm", r.node(gemm).version}, {r[a], r[b], r[c]}, std::move(attributes));
}

}  // namespace

std::vector<Rule> gemm_rules() {
  return {
      {"gemm_transpose_a", op("Gemm", {transposed(a), b}).with_more_inputs(), nullptr,
       [](Rewrite& r) { return flip(r, "transA"); }},
      {"gemm_transpose_b", op("Gemm", {a, transposed(b)}).with_more_inputs(), nullptr,
       [](Rewrite& r) { return flip(r, "transB"); }},
      {"gemm_add", op("Add", {op("Gemm", {a, b}).as(gemm), constant(c)}), check_addend, add_c},
  };
}

}  // namespace sardonyx::rules
