#include "cpu/lower.h"
#include "kernels/int8_gemm/int8_gemm.h"
#include "ops/gemm/int8_matmul.h"
#include "ops/resolve.h"

namespace sardonyx::cpu {
namespace {

constexpr const char* kName = "pack_int8_gemm";

// The inputs of Int8Gemm, from those of each operator.
ValueIds read_inputs(const Node& node) {
  const auto in = [&](size_t i) { return node.input(i); };
  if (node.op == "QLinearMatMul") {
    return {in(0), in(3), in(2), in(5), in(1), in(4), in(6), in(7)};
  }
  return node.inputs;
}

bool is_bytes(const Graph& graph, ValueId id) {
  const DataType type = graph.value(id).type.element;
  return type == DataType::kInt8 || type == DataType::kUint8;
}

void lower_node(Graph& graph, PassContext& context, const Target& target, NodeId id) {
  const Node node = graph.node(id);
  ValueIds inputs = read_inputs(node);
  const ValueId b = inputs[kInt8GemmInputs.b];
  const ValueId y_zero = node.op == "MatMulInteger" || inputs.size() <= kInt8GemmInputs.y_zero
                             ? ValueId::kNone
                             : inputs[kInt8GemmInputs.y_zero];
  if (!is_bytes(graph, inputs[kInt8GemmInputs.a]) || !is_bytes(graph, b) ||
      (y_zero != ValueId::kNone && !is_bytes(graph, y_zero))) {
    return context.reject(kName, "type", graph, id);
  }
  if (!graph.value(b).is_constant()) return context.reject(kName, "B is computed", graph, id);
  const Shape shape = graph.value(b).constant.shape();
  if (shape.size() < 2) return context.reject(kName, "rank", graph, id);
  if (element_count(shape) == 0) return context.reject(kName, "empty", graph, id);
  if (!context.take_edit(kName, node)) return;
  const int64_t nr = kernels::int8_gemm_kernels(target.isa).nr;

  Node pack;
  pack.domain = kInternalDomain;
  pack.op = "PackInt8GemmB";
  pack.version = 1;
  pack.name = node.name;
  pack.inputs = {b};
  pack.outputs = {graph.add_value("")};
  pack.attributes.set("nr", nr);
  inputs[kInt8GemmInputs.b] = pack.outputs[0];
  infer_node(graph, graph.add_node(std::move(pack)));

  Node gemm;
  gemm.domain = kInternalDomain;
  gemm.op = "PackedInt8Gemm";
  gemm.version = 1;
  gemm.name = node.name;
  gemm.inputs = std::move(inputs);
  gemm.attributes.set("k", shape[shape.size() - 2]);
  gemm.attributes.set("n", shape[shape.size() - 1]);
  gemm.attributes.set("nr", nr);
  gemm.attributes.set("b_signed", int64_t{graph.value(b).type.element == DataType::kInt8});
  replace_node(graph, id, std::move(gemm));
}

}  // namespace

void pack_int8_gemm(Graph& graph, PassContext& context, const Target& target) {
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    const Node& node = graph.node(id);
    if (!node.alive) continue;
    if (!node.is("MatMulInteger") && !node.is("QLinearMatMul") &&
        !node.is("Int8Gemm", kInternalDomain)) {
      continue;
    }
    lower_node(graph, context, target, id);
  }
}

}  // namespace sardonyx::cpu
