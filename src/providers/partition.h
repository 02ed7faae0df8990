// Partition: which provider runs which nodes of a graph. Providers are asked in the order of the
// user's list; what nobody claims falls to the CPU. Called by session on the canonical graph.
#pragma once

#include <span>
#include <vector>

#include "providers/provider.h"

namespace sardonyx {

struct Part {
  int provider = -1;  // into the given list
  NodeGroup nodes;    // in the graph's order
};

// The groups that are claimed, each convex: a claim with a path that leaves and re-enters it is
// split where the path crosses. Claims of nodes that are taken or do not exist are ignored.
std::vector<Part> partition(const Graph& graph, std::span<const Provider* const> providers);

}  // namespace sardonyx
