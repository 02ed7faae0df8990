// Fused stage only: products and convolutions between DequantizeLinear and QuantizeLinear, and the
// dynamically quantised products that MatMulInteger, Cast and Mul spell out, become integer
// products that scale and round their sums themselves. The integer sums are exact; what changes is
// that float rounding happens once, at the end.
#include <cmath>

#include "passes/numbers.h"
#include "passes/rules/params.h"
#include "passes/rules/rules.h"

namespace sardonyx::rules {
namespace {

using enum OptimizationLevel;

constexpr Var a{0}, a_scale{1}, a_zero{2}, b{3}, b_scale{4}, b_zero{5}, y_scale{6}, y_zero{7}, c{8},
    c_scale{9}, c_zero{10}, left{11}, right{12}, product{13}, addend{14};

bool is_bytes(DataType type) { return type == DataType::kInt8 || type == DataType::kUint8; }

bool is_whole(const Graph&, const Node& node) {
  return node.attributes.get_int("block_size", 0) == 0;
}

// DequantizeLinear, which others may use too. `as` is bound to what it computes.
Pattern dequantized(Var x, Var scale, Var zero, Var as) {
  return one_of({op("DequantizeLinear", {x, scale, zero}).where(is_whole).shared().as(as),
                 op("DequantizeLinear", {x, scale}).where(is_whole).shared().as(as)});
}

bool writes_bytes(const Graph& graph, const Node& node) {
  const int64_t precision = node.attributes.get_int("precision", 0);
  return is_whole(graph, node) && (precision == 0 || precision == 1) &&
         is_bytes(graph.value(node.output(0)).type.element);
}

Pattern quantized(const Pattern& x) {
  return one_of({op("QuantizeLinear", {x, y_scale, y_zero}).where(writes_bytes),
                 op("QuantizeLinear", {x, y_scale}).where(writes_bytes)});
}

// Is the value known to have one element?
bool has_one_element(const Match& m, Var var) {
  const std::optional<Shape> shape = to_shape(m.shape(var));
  return shape && shape->size() <= 1 && element_count(*shape) == 1;
}

// A float scale, and a zero point or none, of the whole tensor.
bool is_per_tensor(const Match& m, Var scale, Var zero) {
  return m.element(scale) == DataType::kFloat && has_one_element(m, scale) &&
         (!m.has(zero) || has_one_element(m, zero));
}

// Or of the axis that lies `from_end` from the end of its `rank` axes.
bool is_per_axis(const Match& m, Var scale, Var zero, Var as, size_t rank, size_t from_end) {
  if (m.element(scale) != DataType::kFloat || m.rank(scale) != 1) return false;
  if (m.has(zero) &&
      (m.rank(zero) != 1 || !proven_equal((*m.shape(zero))[0], (*m.shape(scale))[0])))
    return false;
  int64_t axis = m.node(as).attributes.get_int("axis", 1);
  if (axis < 0) axis += static_cast<int64_t>(rank);
  return axis + static_cast<int64_t>(from_end) == static_cast<int64_t>(rank);
}

// --- products ------------------------------------------------------------------------------------

const char* check_operands(const Match& m, size_t column_from_end) {
  if (!is_bytes(m.element(a)) || !is_bytes(m.element(b))) return "type";
  if (!m.rank(a) || !m.rank(b) || *m.rank(a) < 2 || *m.rank(b) < 2) return "rank";
  if (!is_per_tensor(m, a_scale, a_zero)) return "scale of A";
  if (!is_per_tensor(m, b_scale, b_zero) &&
      !is_per_axis(m, b_scale, b_zero, right, *m.rank(b), column_from_end)) {
    return "scale of B";
  }
  return nullptr;
}

ValueId emit_gemm(Rewrite& r, ValueIds inputs) {
  while (inputs.back() == ValueId::kNone) inputs.pop_back();
  return r.emit({"Int8Gemm", 1, kInternalDomain}, inputs);
}

ValueId build_matmul(Rewrite& r) {
  return emit_gemm(r, {r[a], r[b], r[a_zero], r[b_zero], r[a_scale], r[b_scale]});
}

const char* check_gemm(const Match& m) {
  const Node& node = m.root();
  if (node.attributes.get_float("alpha", 1.0f) != 1.0f) return "alpha";
  if (node.attributes.get_int("transA", 0) != 0) return "transposed A";
  const bool transposed = node.attributes.get_int("transB", 0) != 0;
  if (const char* reason = check_operands(m, transposed ? 2 : 1)) return reason;
  if (!m.has(c)) return nullptr;
  if (node.attributes.get_float("beta", 1.0f) != 1.0f) return "beta";
  const SymShape& bias = m.shape(c);
  if (m.element(c) != DataType::kFloat) return "type";
  if (!bias || bias->size() != 1 || !m.shape(b)) return "C is no row";
  return proven_equal((*bias)[0], (*m.shape(b))[transposed ? 0 : 1]) ? nullptr : "C is no row";
}

ValueId build_gemm(Rewrite& r) {
  ValueId weight = r[b];
  if (r.root().attributes.get_int("transB", 0) != 0) {
    weight = r.emit({"Transpose", 1}, {weight});
  }
  return emit_gemm(r, {r[a], weight, r[a_zero], r[b_zero], r[a_scale], r[b_scale], ValueId::kNone,
                       ValueId::kNone, r[c]});
}

// MatMulInteger, Cast to float, Mul by a scale of everything or of columns.
bool casts_to_float(const Graph&, const Node& node) {
  return node.attributes.get_int("to", 0) == 1;
}

Pattern scaled_sum(const Pattern& scale) {
  return op("Mul", {op("Cast", {op("MatMulInteger", {a, b}).with_more_inputs().as(product)})
                        .where(casts_to_float),
                    scale});
}

const char* check_sum(const Match& m) {
  const SymShape& y = m.shape(product);
  return y && y->size() >= 1 && m.element(b_scale) == DataType::kFloat ? nullptr : "type";
}

const char* check_two_scales(const Match& m) {
  if (const char* reason = check_sum(m)) return reason;
  if (m.element(a_scale) != DataType::kFloat) return "type";
  return has_one_element(m, a_scale) && has_one_element(m, b_scale) ? nullptr : "scale";
}

const char* check_one_scale(const Match& m) {
  if (const char* reason = check_sum(m)) return reason;
  if (has_one_element(m, b_scale)) return nullptr;
  const SymShape &scale = m.shape(b_scale), &y = m.shape(product), &rows = m.shape(b);
  const bool columns = scale && scale->size() == 1 && rows && rows->size() >= 2 &&
                       proven_equal((*scale)[0], y->back());
  return columns ? nullptr : "scale";
}

ValueId build_sum(Rewrite& r) {
  const Node& node = r.node(product);
  return emit_gemm(r, {r[a], r[b], node.input(2), node.input(3), r[a_scale], r[b_scale]});
}

// --- what follows a product ----------------------------------------------------------------------

// Int8Gemm whose inputs from `first` on are absent.
std::function<bool(const Graph&, const Node&)> ends_before(size_t first) {
  return [first](const Graph& graph, const Node& node) {
    for (size_t i = first; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != ValueId::kNone) return false;
    }
    return graph.value(node.output(0)).type.element == DataType::kFloat;
  };
}

Pattern gemm_before(size_t first) {
  return op("Int8Gemm", {a, b}, kInternalDomain)
      .with_more_inputs()
      .where(ends_before(first))
      .as(product);
}

const char* check_bias(const Match& m) {
  const SymShape &bias = m.shape(addend), &y = m.shape(product);
  if (!bias || bias->size() != 1 || !y || y->empty() || m.rank(b).value_or(0) < 2) return "shape";
  return proven_equal((*bias)[0], y->back()) ? nullptr : "shape";
}

ValueIds all_inputs(const Rewrite& r) {
  ValueIds inputs = r.node(product).inputs;
  inputs.resize(9, ValueId::kNone);
  return inputs;
}

ValueId build_bias(Rewrite& r) {
  ValueIds inputs = all_inputs(r);
  inputs[8] = r[addend];
  return emit_gemm(r, inputs);
}

bool has_no_y(const Graph& graph, const Node& node) {
  return node.input(6) == ValueId::kNone && node.input(7) == ValueId::kNone &&
         graph.value(node.output(0)).type.element == DataType::kFloat;
}

const char* check_quantized(const Match& m) {
  return is_per_tensor(m, y_scale, y_zero) ? nullptr : "scale";
}

// The zero point, which also says the type: 0 when there is none.
ValueId zero_of_result(Rewrite& r) {
  if (r.has(y_zero)) return r[y_zero];
  Tensor zero = Tensor::allocate(r.graph().value(r.root().output(0)).type.element, Shape());
  *static_cast<uint8_t*>(zero.raw()) = 0;
  return r.constant(std::move(zero));
}

ValueId build_quantized(Rewrite& r) {
  ValueIds inputs = all_inputs(r);
  inputs[6] = r[y_scale];
  inputs[7] = zero_of_result(r);
  if (inputs[8] != ValueId::kNone) inputs[8] = r.emit({"Div", 7}, {inputs[8], r[y_scale]});
  return emit_gemm(r, inputs);
}

// --- convolutions --------------------------------------------------------------------------------

// A bias of int32 belongs to the sums when its scale is the product of the others, and it has no
// zero point.
bool bias_belongs(const Match& m) {
  if (m.element(c) != DataType::kInt32 || m.rank(c) != 1) return false;
  for (Var var : {a_scale, b_scale, c_scale}) {
    if (!m.value(var).is_constant()) return false;
  }
  if (m.has(c_zero) && (!m.value(c_zero).is_constant() || !all_equal(m.constant(c_zero), 0))) {
    return false;
  }
  const std::vector<double> x = *read_floats(m.constant(a_scale));
  const std::vector<double> w = *read_floats(m.constant(b_scale));
  const std::vector<double> bias = *read_floats(m.constant(c_scale));
  if (bias.size() != 1 && bias.size() != w.size()) return false;
  for (size_t i = 0; i < w.size(); ++i) {
    const double expected = x[0] * w[i], found = bias[bias.size() == 1 ? 0 : i];
    if (std::fabs(found - expected) > 1e-6 * std::fabs(expected)) return false;
  }
  return true;
}

const char* check_conv(const Match& m) {
  if (!is_bytes(m.element(a)) || !is_bytes(m.element(b))) return "type";
  if (!m.rank(b)) return "rank";
  if (!is_per_tensor(m, a_scale, a_zero)) return "scale of X";
  if (!is_per_tensor(m, b_scale, b_zero) &&
      !is_per_axis(m, b_scale, b_zero, right, *m.rank(b), *m.rank(b))) {
    return "scale of W";
  }
  if (!is_per_tensor(m, y_scale, y_zero)) return "scale of Y";
  return !m.has(c) || bias_belongs(m) ? nullptr : "bias";
}

ValueId zero_like(Rewrite& r, Var zero, Var values) {
  if (r.has(zero)) return r[zero];
  Tensor tensor = Tensor::allocate(r.element(values), Shape());
  *static_cast<uint8_t*>(tensor.raw()) = 0;
  return r.constant(std::move(tensor));
}

ValueId build_conv(Rewrite& r) {
  ValueIds inputs = {r[a],       r[a_scale],       zero_like(r, a_zero, a),
                     r[b],       r[b_scale],       zero_like(r, b_zero, b),
                     r[y_scale], zero_of_result(r)};
  if (r.has(c)) inputs.push_back(r[c]);
  return r.emit({"QLinearConv", 10}, inputs, r.node(product).attributes);
}

}  // namespace

std::vector<Rule> quantize_rules() {
  const Pattern x = dequantized(a, a_scale, a_zero, left);
  const Pattern w = dequantized(b, b_scale, b_zero, right);
  const Pattern bias = dequantized(c, c_scale, c_zero, addend);
  return {
      {"int8_matmul", op("MatMul", {x, w}), [](const Match& m) { return check_operands(m, 1); },
       build_matmul, kExtended, RunsIn::kFusedOnly},
      {"int8_gemm", one_of({op("Gemm", {x, w, c}), op("Gemm", {x, w})}), check_gemm, build_gemm,
       kExtended, RunsIn::kFusedOnly},
      {"int8_dynamic_scales", scaled_sum(op("Mul", {a_scale, b_scale})), check_two_scales,
       build_sum, kExtended, RunsIn::kFusedOnly},
      {"int8_dynamic", scaled_sum(b_scale), check_one_scale, build_sum, kExtended,
       RunsIn::kFusedOnly},
      {"int8_bias", op("Add", {gemm_before(6), constant(addend)}), check_bias, build_bias,
       kExtended, RunsIn::kFusedOnly},
      {"int8_quantize",
       quantized(
           op("Int8Gemm", {a, b}, kInternalDomain).with_more_inputs().where(has_no_y).as(product)),
       check_quantized, build_quantized, kExtended, RunsIn::kFusedOnly},
      {"int8_conv",
       quantized(one_of({op("Conv", {x, w, bias}).as(product), op("Conv", {x, w}).as(product)})),
       check_conv, build_conv, kExtended, RunsIn::kFusedOnly},
  };
}

}  // namespace sardonyx::rules
