// Removes nodes none of whose outputs is used, optional outputs that nobody uses, and constants
// without users. Has no operator with side effects to spare: ONNX has none.
#include <algorithm>

#include "ops/op.h"
#include "passes/edit.h"
#include "passes/passes.h"

namespace sardonyx {
namespace {

constexpr const char* kName = "dead_code";

bool is_optional_output(const Node& node, size_t i) {
  const OpDef* def = find_op(node.domain, node.op);
  if (def == nullptr || node.version == 0) return false;
  const Schema& schema = schema_of(*def, node.version);
  return i < schema.outputs.size() && schema.outputs[i].arity == FormalParameter::Arity::kOptional;
}

void drop_unused_outputs(Graph& graph, NodeId id, PassContext& context) {
  for (size_t i = 0; i < graph.node(id).outputs.size(); ++i) {
    const ValueId out = graph.node(id).outputs[i];
    if (out == ValueId::kNone || graph.use_count(out) != 0) continue;
    if (!is_optional_output(graph.node(id), i)) continue;
    if (!context.take_edit(kName, graph.node(id))) return;
    graph.value(out).producer = NodeId::kNone;
    graph.value(out).alive = false;
    graph.node(id).outputs[i] = ValueId::kNone;
  }
  // An absent output of a variadic list counts: Split makes as many parts as it has outputs.
  ValueIds& outputs = graph.node(id).outputs;
  while (!outputs.empty() && outputs.back() == ValueId::kNone &&
         is_optional_output(graph.node(id), outputs.size() - 1)) {
    outputs.pop_back();
  }
}

}  // namespace

void remove_dead_code(Graph& graph, PassContext& context) {
  const std::vector<NodeId> order = graph.order();
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const Node& node = graph.node(*at);
    if (!node.alive) continue;
    const bool used = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId out) {
      return out != ValueId::kNone && graph.use_count(out) != 0;
    });
    if (used) {
      drop_unused_outputs(graph, *at, context);
    } else if (context.take_edit(kName, node)) {
      graph.remove_node(*at);
    }
  }
  // Not an edit: nothing can observe an unused constant, and its memory is wanted back.
  for (size_t i = 0; i < graph.value_count(); ++i) {
    drop_unused_constant(graph, static_cast<ValueId>(i));
  }
}

}  // namespace sardonyx
