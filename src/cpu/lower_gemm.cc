#include "cpu/lower.h"
#include "kernels/gemm/gemm.h"
#include "ops/resolve.h"

namespace sardonyx::cpu {
namespace {

constexpr const char* kName = "pack_gemm";

// A product act(scale * (a x b) + bias + residual), as the three operators write it.
struct Product {
  ValueId a = ValueId::kNone, b = ValueId::kNone, bias = ValueId::kNone, residual = ValueId::kNone;
  bool transpose_b = false;
  float scale = 1.0f;
};

bool is_float(const Graph& graph, ValueId id) {
  return id != ValueId::kNone && graph.value(id).type.element == DataType::kFloat;
}

// nullptr when `c`, the addend of a Gemm, found its place.
const char* place_addend(Graph& graph, const Node& node, ValueId c, int64_t n, Product& product) {
  if (c == ValueId::kNone) return nullptr;
  if (node.attributes.get_float("beta", 1.0f) != 1.0f) return "beta";
  const SymShape& shape = graph.value(c).type.shape;
  const SymShape& out = graph.value(node.output(0)).type.shape;
  if (!shape) return "C of unknown rank";
  if (graph.value(c).is_constant() && graph.value(c).constant.size() == n && shape->back().is(n)) {
    const Tensor& row = graph.value(c).constant;
    product.bias = shape->size() == 1 ? c : graph.add_constant("", row.reshaped(Shape{n}));
    return nullptr;
  }
  if (!out || out->size() != 2 || shape->size() != 2 || !proven_equal((*shape)[0], (*out)[0]) ||
      !proven_equal((*shape)[1], (*out)[1])) {
    return "C";
  }
  product.residual = c;
  return nullptr;
}

const char* read_product(Graph& graph, const Node& node, Product& product) {
  product.a = node.input(0);
  product.b = node.input(1);
  if (!is_float(graph, product.a) || !is_float(graph, product.b)) return "type";
  const GraphValue& b = graph.value(product.b);
  if (!b.is_constant()) return "B is computed";
  const Shape& shape = b.constant.shape();
  const SymShape& a = graph.value(product.a).type.shape;
  if (shape.size() < 2 || !a || a->size() < 2) return "rank";
  if (b.constant.size() == 0) return "empty";
  if (node.op == "MatMul") return nullptr;
  const bool fused = node.op == "FusedMatMul";
  if (node.attributes.get_int(fused ? "trans_a" : "transA", 0) != 0) return "transposed A";
  product.transpose_b = node.attributes.get_int(fused ? "trans_b" : "transB", 0) != 0;
  product.scale = node.attributes.get_float(fused ? "scale" : "alpha", 1.0f);
  if (fused) {
    product.bias = node.input(2);
    product.residual = node.input(3);
    return nullptr;
  }
  return place_addend(graph, node, node.input(2), shape[product.transpose_b ? 0 : 1], product);
}

ValueId scaled(Graph& graph, ValueId b, float scale) {
  if (scale == 1.0f) return b;
  Tensor tensor = graph.value(b).constant.clone();
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.data<float>()[i] *= scale;
  return graph.add_constant("", std::move(tensor));
}

void lower_node(Graph& graph, PassContext& context, const Target& target, NodeId id) {
  const Node node = graph.node(id);
  Product product;
  if (const char* reason = read_product(graph, node, product)) {
    return context.reject(kName, reason, graph, id);
  }
  if (!context.take_edit(kName, node)) return;
  const int64_t nr = kernels::gemm_kernels(target.isa).nr;
  const Shape shape = graph.value(product.b).constant.shape();
  const int64_t rows = shape[shape.size() - 2], columns = shape[shape.size() - 1];

  Node pack;
  pack.domain = kInternalDomain;
  pack.op = "PackGemmB";
  pack.version = 1;
  pack.name = node.name;
  pack.inputs = {scaled(graph, product.b, product.scale)};
  pack.outputs = {graph.add_value("")};
  pack.attributes.set("nr", nr);
  if (product.transpose_b) pack.attributes.set("transpose", int64_t{1});
  const ValueId packed = pack.outputs[0];
  infer_node(graph, graph.add_node(std::move(pack)));

  Node gemm;
  gemm.domain = kInternalDomain;
  gemm.op = "PackedGemm";
  gemm.version = 1;
  gemm.name = node.name;
  gemm.inputs = {product.a, packed, product.bias, product.residual};
  while (gemm.inputs.back() == ValueId::kNone) gemm.inputs.pop_back();
  if (node.op == "FusedMatMul") {
    for (const char* name : {"activation", "alpha", "beta"}) {
      if (const AttributeValue* value = node.attributes.find(name)) {
        gemm.attributes.set(name, *value);
      }
    }
  }
  gemm.attributes.set("k", product.transpose_b ? columns : rows);
  gemm.attributes.set("n", product.transpose_b ? rows : columns);
  gemm.attributes.set("nr", nr);
  replace_node(graph, id, std::move(gemm));
}

}  // namespace

void pack_gemm(Graph& graph, PassContext& context, const Target& target) {
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    const Node& node = graph.node(id);
    if (!node.alive) continue;
    if (!node.is("MatMul") && !node.is("Gemm") && !node.is("FusedMatMul", kInternalDomain)) {
      continue;
    }
    lower_node(graph, context, target, id);
  }
}

}  // namespace sardonyx::cpu
