// Edits that passes share: exchange of a value under its name, removal of what became unused.
#pragma once

#include "ir/graph.h"

namespace sardonyx {

// May every use of `from` become a use of `to`? Not when `from` is a graph output and `to` is an
// input, capture, constant or graph output (an output is produced by a node and keeps its name).
bool can_replace(const Graph& graph, ValueId from, ValueId to);

// Every use of `from` becomes a use of `to`, which takes over the name when `from` is an output or
// `to` has none. Needs can_replace().
void replace_value(Graph& graph, ValueId from, ValueId to);

// Removes the node when none of its outputs is used, then whatever only it needed. Constants
// without users stay: dead_code takes them.
void erase_unused(Graph& graph, NodeId id);

// Frees the memory of the value when it is a constant that nobody uses.
void drop_unused_constant(Graph& graph, ValueId id);

// Joins provenance names with '+': each once, up to about 200 characters.
std::string join_names(const Graph& graph, const std::vector<NodeId>& nodes);

}  // namespace sardonyx
