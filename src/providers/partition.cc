#include "providers/partition.h"

#include <algorithm>

#include "sardonyx/error.h"

namespace sardonyx {

std::unique_ptr<Kernel> Provider::load(std::span<const std::byte>) const {
  throw Error(ErrorCode::kNotImplemented,
              std::string(name()) + " cannot load what it compiled before");
}

namespace {

// Splits a claim into convex groups: walks the graph in order; a node starts a new group when one
// of its predecessors lies outside of the current group but after some node of it.
std::vector<NodeGroup> split_convex(const Graph& graph, const std::vector<bool>& claimed) {
  std::vector<NodeGroup> groups(1);
  // Nodes outside of the current group that depend on it.
  std::vector<bool> in_group(graph.node_count()), below_group(graph.node_count());
  const auto any_producer = [&](const Node& node, const std::vector<bool>& marked) {
    for (const ValueIds* uses : {&node.inputs, &node.captures}) {
      for (ValueId use : *uses) {
        if (use == ValueId::kNone) continue;
        const NodeId producer = graph.value(use).producer;
        if (producer != NodeId::kNone && marked[static_cast<size_t>(producer)]) return true;
      }
    }
    return false;
  };
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!node.alive) continue;
    const auto index = static_cast<size_t>(id);
    const bool is_below = any_producer(node, below_group);
    if (!claimed[index]) {
      below_group[index] = is_below || any_producer(node, in_group);
      continue;
    }
    if (is_below) {
      groups.emplace_back();
      std::fill(in_group.begin(), in_group.end(), false);
      std::fill(below_group.begin(), below_group.end(), false);
    }
    groups.back().push_back(id);
    in_group[index] = true;
  }
  if (groups.front().empty()) groups.erase(groups.begin());
  return groups;
}

}  // namespace

std::vector<Part> partition(const Graph& graph, std::span<const Provider* const> providers) {
  std::vector<bool> is_free(graph.node_count());
  for (NodeId id : graph.order()) is_free[static_cast<size_t>(id)] = graph.node(id).alive;
  std::vector<Part> parts;
  for (size_t p = 0; p < providers.size(); ++p) {
    for (const NodeGroup& claim : providers[p]->claim(graph, is_free)) {
      std::vector<bool> claimed(graph.node_count());
      for (NodeId id : claim) {
        const auto index = static_cast<size_t>(id);
        if (index < is_free.size() && is_free[index]) claimed[index] = true;
      }
      for (NodeGroup& group : split_convex(graph, claimed)) {
        for (NodeId id : group) is_free[static_cast<size_t>(id)] = false;
        parts.push_back({static_cast<int>(p), std::move(group)});
      }
    }
  }
  return parts;
}

}  // namespace sardonyx
