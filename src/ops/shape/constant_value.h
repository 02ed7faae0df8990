// The tensor that a Constant node of any version stands for. Called by the operator and by whoever
// turns Constant nodes into constants of the graph.
#pragma once

#include "ir/graph.h"

namespace sardonyx {

// Shares the attribute's bytes where it is a tensor. Throws Error(kInvalidGraph) when the node does
// not have exactly one value.
Tensor constant_value(const Node& node);

}  // namespace sardonyx
