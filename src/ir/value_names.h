// ValueNames: what the values of a graph are called in a form that refers to them by name (text,
// ONNX files). Captures take the name of the outer value. Values that passes left without a name,
// and names that clash in the graph or hide an outer one, get a fresh one; inputs and outputs are
// served first and so keep theirs. Used by the printer and the ONNX writer.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "ir/graph.h"

namespace sardonyx {

class ValueNames {
 public:
  // `outer` and `captures` (of the node that holds the graph) are null for a graph that sees
  // nothing outside. `outer` must outlive the names.
  ValueNames(const Graph& graph, const ValueNames* outer, const ValueIds* captures);

  // Empty for a dead value.
  const std::string& of(ValueId id) const { return names_[static_cast<size_t>(id)]; }

 private:
  bool taken(const std::string& name) const;
  std::string fresh(const std::string& wish);

  const ValueNames* outer_;
  std::vector<std::string> names_;
  std::unordered_set<std::string> used_;
};

}  // namespace sardonyx
