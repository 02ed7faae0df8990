// verify(): is a graph what its methods promise? Every value has one definition and is used after
// it, producers and users agree, the order holds every living node once, outputs and captures
// exist. Called after each pass in tests and debug builds, and by readers; costs one walk over the
// graph.
#pragma once

#include "ir/graph.h"

namespace sardonyx {

enum class NameRule {
  kUnique,   // no two values of a graph have the same name
  kIgnored,  // for whoever names the values anew, as writers do
};

// Subgraphs included. Throws Error(kInvalidGraph) that names the first fault found.
void verify(const Graph& graph, NameRule names = NameRule::kUnique);

}  // namespace sardonyx
