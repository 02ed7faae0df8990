// Inside the subgraphs of a node, captured values that are constants outside become constants of
// the subgraph (the bytes are shared), so that folding and weight packing work there. Captures that
// nothing uses any more are dropped.
#include <algorithm>

#include "passes/passes.h"

namespace sardonyx {
namespace {

constexpr const char* kName = "captured_constants";

void lower_into(const Graph& outer, NodeId id, Graph& body, PassContext& context) {
  for (const Capture& capture : body.captures()) {
    const GraphValue& from =
        outer.value(outer.node(id).captures[static_cast<size_t>(capture.index)]);
    if (!from.is_constant() || body.use_count(capture.inner) == 0) continue;
    if (!context.take_edit(kName, outer.node(id))) return;
    const Tensor tensor = from.constant;
    const ValueId constant = body.add_constant("", tensor);
    std::swap(body.value(constant).name, body.value(capture.inner).name);
    body.replace_uses(capture.inner, constant);
  }
}

void drop_unused_captures(Graph& outer, NodeId id) {
  const ValueIds old_captures = outer.node(id).captures;
  std::vector<int> new_index(old_captures.size(), -1);
  for_each_subgraph(outer.node(id), [&](const std::string&, Graph& body) {
    for (const Capture& capture : body.captures()) {
      if (body.use_count(capture.inner) != 0) new_index[static_cast<size_t>(capture.index)] = 0;
    }
  });
  ValueIds kept;
  for (size_t i = 0; i < old_captures.size(); ++i) {
    if (new_index[i] < 0) continue;
    new_index[i] = static_cast<int>(kept.size());
    kept.push_back(old_captures[i]);
  }
  if (kept.size() == old_captures.size()) return;
  for_each_subgraph(outer.node(id), [&](const std::string&, Graph& body) {
    std::vector<Capture> captures;
    for (const Capture& capture : body.captures()) {
      if (body.use_count(capture.inner) == 0) {
        body.value(capture.inner).alive = false;
      } else {
        captures.push_back({capture.inner, new_index[static_cast<size_t>(capture.index)]});
      }
    }
    body.set_captures(std::move(captures));
  });
  outer.set_node_captures(id, kept);
}

}  // namespace

void lower_captured_constants(Graph& graph, PassContext& context) {
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    if (!graph.node(id).alive || graph.node(id).captures.empty()) continue;
    for_each_subgraph(graph.node(id), [&](const std::string&, Graph& body) {
      lower_into(graph, id, body, context);
    });
    drop_unused_captures(graph, id);
  }
}

}  // namespace sardonyx
