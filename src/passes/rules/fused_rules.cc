// Fused stage only: a convolution or matrix product takes in what follows it: bias, residual,
// activation (ops/internal/fused.h). The rules fire on what the CPU's lowering can pack: float,
// constant weights of rank 2 (matrix), 3 or 4 (convolution).
#include "ops/epilogue.h"
#include "passes/numbers.h"
#include "passes/rules/params.h"
#include "passes/rules/rules.h"

namespace sardonyx::rules {
namespace {

using enum OptimizationLevel;

constexpr Var x{0}, w{1}, b{2}, fused{3}, residual{4}, addend{5};
constexpr const char* kActivations =
    "Relu|LeakyRelu|Clip|HardSigmoid|HardSwish|Sigmoid|Swish|Tanh|Gelu";

bool has_no_activation(const Graph&, const Node& node) {
  return node.attributes.get_string("activation", "").empty();
}

// The nodes that can take more in. A fused node that has its activation is finished.
Pattern convolution(std::vector<Pattern> inputs) {
  return one_of({
      op("Conv|ConvTranspose", inputs).with_more_inputs().as(fused),
      op("FusedConv|FusedConvTranspose", inputs, kInternalDomain)
          .with_more_inputs()
          .where(has_no_activation)
          .as(fused),
  });
}

Pattern product() {
  return one_of({
      op("MatMul", {x, constant(w)}).as(fused),
      op("Gemm", {x, constant(w)}).with_more_inputs().as(fused),
      op("FusedMatMul", {x, constant(w)}, kInternalDomain)
          .with_more_inputs()
          .where(has_no_activation)
          .as(fused),
  });
}

Pattern convolution_or_product() { return one_of({convolution({x, constant(w)}), product()}); }

bool is_product(const Node& node) {
  return node.op == "MatMul" || node.op == "Gemm" || node.op == "FusedMatMul";
}

// A Gemm is a FusedMatMul when its C is a constant row and its factors are plain.
const char* check_gemm(const Match& m, const Node& node) {
  if (!m.rank(x) || *m.rank(x) != 2) return "rank";
  if (node.input(2) == ValueId::kNone) return nullptr;
  const GraphValue& c = m.graph().value(node.input(2));
  if (!c.is_constant() || !m.shape(fused)) return "C is computed";
  if (node.attributes.get_float("beta", 1.0f) != 1.0f) return "beta";
  const Dim n = m.shape(fused)->back();
  const Shape& shape = c.constant.shape();
  const bool is_row =
      (shape.size() == 1 || (shape.size() == 2 && shape[0] == 1)) && n.is(shape[shape.size() - 1]);
  return is_row ? nullptr : "C is no row";
}

const char* check_base(const Match& m) {
  const Node& node = m.node(fused);
  if (!is_single(m.element(x)) || !is_single(m.constant(w).type())) return "type";
  const size_t rank = m.constant(w).shape().size();
  if (is_product(node) ? rank != 2 : rank != 3 && rank != 4) return "rank";
  if (!m.rank(x) || (is_product(node) ? *m.rank(x) < 2 : *m.rank(x) != rank)) return "rank";
  for (size_t i = 2; i < node.inputs.size() && !is_product(node); ++i) {
    if (i == 2 && node.inputs[i] != ValueId::kNone &&
        !m.graph().value(node.inputs[i]).is_constant()) {
      return "bias is computed";
    }
  }
  if (node.op == "Gemm") return check_gemm(m, node);
  return nullptr;
}

// The fused node that equals the matched one, to be changed and emitted.
struct Draft {
  Form form;
  ValueIds inputs;  // always four
  Attributes attributes;
};

Draft draft_of(Rewrite& r) {
  const Node& node = r.node(fused);
  Draft draft;
  draft.inputs = node.inputs;
  draft.inputs.resize(4, ValueId::kNone);
  if (node.domain == kInternalDomain) {
    const OpDef& def = *find_op(node.domain, node.op);
    draft.form = {def.name, 1, kInternalDomain};
    draft.attributes = node.attributes;
  } else if (!is_product(node)) {
    draft.form = {node.op == "Conv" ? "FusedConv" : "FusedConvTranspose", 1, kInternalDomain};
    draft.attributes = node.attributes;
  } else {
    draft.form = {"FusedMatMul", 1, kInternalDomain};
    for (auto [theirs, ours] : {std::pair("transA", "trans_a"), std::pair("transB", "trans_b")}) {
      const int64_t flag = node.attributes.get_int(theirs, 0);
      if (flag != 0) draft.attributes.set(ours, int64_t{1});
    }
    const float scale = node.attributes.get_float("alpha", 1.0f);
    if (scale != 1.0f) draft.attributes.set("scale", scale);
    if (draft.inputs[2] != ValueId::kNone) {
      const Tensor& c = r.graph().value(draft.inputs[2]).constant;
      if (c.shape().size() != 1) draft.inputs[2] = r.constant(c.reshaped(Shape{c.size()}));
    }
  }
  return draft;
}

ValueId emit(Rewrite& r, Draft draft) {
  while (draft.inputs.back() == ValueId::kNone) draft.inputs.pop_back();
  return r.emit(draft.form, draft.inputs, std::move(draft.attributes));
}

// --- bias of a matrix product --------------------------------------------------------------------

const char* check_bias(const Match& m) {
  if (const char* reason = check_base(m)) return reason;
  const Node& node = m.node(fused);
  if (node.input(2) != ValueId::kNone || node.input(3) != ValueId::kNone) return "has a bias";
  const Tensor& tensor = m.constant(addend);
  const SymShape& out = m.shape(fused);
  // A row, with dimensions of 1 in front at most.
  if (!out || tensor.shape().empty() || tensor.shape().size() > out->size() ||
      tensor.shape().back() != tensor.size() || !out->back().is(tensor.size())) {
    return "no row";
  }
  return nullptr;
}

ValueId take_bias(Rewrite& r) {
  Draft draft = draft_of(r);
  const Tensor& row = r.constant(addend);
  draft.inputs[2] =
      row.shape().size() == 1 ? r[addend] : r.constant(row.reshaped(Shape{row.size()}));
  return emit(r, std::move(draft));
}

// --- residual ------------------------------------------------------------------------------------

const char* check_residual(const Match& m) {
  if (const char* reason = check_base(m)) return reason;
  if (m.node(fused).input(3) != ValueId::kNone) return "has a residual";
  const SymShape& out = m.shape(fused);
  const SymShape& other = m.shape(residual);
  if (!out || !other || out->size() != other->size()) return "shape";
  for (size_t i = 0; i < out->size(); ++i) {
    if (!proven_equal((*out)[i], (*other)[i])) return "shape";
  }
  return nullptr;
}

ValueId take_residual(Rewrite& r) {
  Draft draft = draft_of(r);
  draft.inputs[3] = r[residual];
  return emit(r, std::move(draft));
}

// --- activation ----------------------------------------------------------------------------------

const char* check_activation(const Match& m) {
  if (const char* reason = check_base(m)) return reason;
  return activation_of(m.graph(), m.root()) ? nullptr : "parameters";
}

ValueId take_activation(Rewrite& r) {
  const kernels::Epilogue epilogue = *activation_of(r.graph(), r.root());
  Draft draft = draft_of(r);
  set_epilogue(draft.attributes, epilogue);
  return emit(r, std::move(draft));
}

}  // namespace

std::vector<Rule> fused_rules() {
  return {
      {"matmul_bias", op("Add", {product(), constant(addend)}), check_bias, take_bias, kExtended,
       RunsIn::kFusedOnly},
      {"fuse_residual", op("Add", {convolution_or_product(), residual}), check_residual,
       take_residual, kExtended, RunsIn::kFusedOnly},
      {"fuse_activation", op(kActivations, {convolution_or_product()}).with_more_inputs(),
       check_activation, take_activation, kExtended, RunsIn::kFusedOnly},
  };
}

}  // namespace sardonyx::rules
