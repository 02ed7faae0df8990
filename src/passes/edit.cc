#include "passes/edit.h"

#include <algorithm>
#include <utility>

namespace sardonyx {

bool can_replace(const Graph& graph, ValueId from, ValueId to) {
  if (from == to) return false;
  if (!graph.is_output(from)) return true;
  const GraphValue& target = graph.value(to);
  return target.producer != NodeId::kNone && !graph.is_output(to);
}

void replace_value(Graph& graph, ValueId from, ValueId to) {
  GraphValue& old_value = graph.value(from);
  GraphValue& new_value = graph.value(to);
  if (graph.is_output(from) || new_value.name.empty()) std::swap(new_value.name, old_value.name);
  graph.replace_uses(from, to);
}

void erase_unused(Graph& graph, NodeId id) {
  std::vector<NodeId> work = {id};
  while (!work.empty()) {
    const NodeId next = work.back();
    work.pop_back();
    if (next == NodeId::kNone || !graph.node(next).alive) continue;
    const Node& node = graph.node(next);
    const bool used = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId out) {
      return out != ValueId::kNone && graph.use_count(out) != 0;
    });
    if (used) continue;
    for (const ValueIds* uses : {&node.inputs, &node.captures}) {
      for (ValueId use : *uses) {
        if (use != ValueId::kNone) work.push_back(graph.value(use).producer);
      }
    }
    graph.remove_node(next);
  }
}

void drop_unused_constant(Graph& graph, ValueId id) {
  GraphValue& value = graph.value(id);
  if (!value.alive || !value.is_constant() || graph.use_count(id) != 0) return;
  if (graph.is_input(id)) return;
  value.constant = Tensor();
  value.alive = false;
}

std::string join_names(const Graph& graph, const std::vector<NodeId>& nodes) {
  constexpr size_t kMaxLength = 200;
  std::string joined;
  std::vector<std::string_view> seen;
  for (NodeId id : nodes) {
    const std::string& name = graph.node(id).name;
    if (name.empty() || std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
    if (!joined.empty() && joined.size() + name.size() > kMaxLength) continue;
    seen.push_back(name);
    if (!joined.empty()) joined += '+';
    joined += name;
  }
  return joined;
}

}  // namespace sardonyx
