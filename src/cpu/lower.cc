#include "cpu/lower.h"

#include <utility>

#include "ops/resolve.h"
#include "passes/edit.h"

namespace sardonyx::cpu {

void replace_node(Graph& graph, NodeId id, Node replacement) {
  const ValueIds old_outputs = graph.node(id).outputs;
  replacement.outputs.clear();
  for (ValueId out : old_outputs) {
    replacement.outputs.push_back(out == ValueId::kNone ? out : graph.add_value(""));
  }
  const ValueIds results = replacement.outputs;
  infer_node(graph, graph.add_node(std::move(replacement)));
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i] != ValueId::kNone) replace_value(graph, old_outputs[i], results[i]);
  }
  graph.remove_node(id);
}

}  // namespace sardonyx::cpu
