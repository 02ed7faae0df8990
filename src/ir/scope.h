// GraphScope: names to values while a graph is built from a form that refers to values by name
// (ONNX files, text). A name that is not in the graph is looked for in the graphs around it and
// becomes a capture of every graph on the way. CaptureList gathers the implicit inputs of a node
// while the subgraphs in its attributes are built; it becomes Node::captures. Used by the readers
// only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace sardonyx {

class GraphScope;

class CaptureList {
 public:
  // For a node of `outer`. Null: for a node on its own, where every free name counts as captured.
  explicit CaptureList(GraphScope* outer) : outer_(outer) {}

  struct Captured {
    int index;  // into ids()
    ValueType type;
  };
  std::optional<Captured> find(std::string_view name);
  bool is_visible(std::string_view name) const;

  const ValueIds& ids() const { return ids_; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  GraphScope* outer_;
  ValueIds ids_;                            // of the outer graph; empty for a node on its own
  std::unordered_map<ValueId, int> index_;  // of ids_
  std::vector<std::string> names_;
};

class GraphScope {
 public:
  // `outer` is null for a graph that sees nothing outside (main graph, function body).
  GraphScope(Graph& graph, CaptureList* outer) : graph_(graph), outer_(outer) {}

  Graph& graph() { return graph_; }

  // Binds `name`. False when this graph has that name already.
  bool declare(std::string_view name, ValueId id);
  // The value `name` stands for; captures it when it is an outer one.
  std::optional<ValueId> find(std::string_view name);
  std::optional<ValueId> find_local(std::string_view name) const;
  // Would find() find it? Captures nothing.
  bool is_visible(std::string_view name) const;
  bool is_visible_outside(std::string_view name) const {
    return outer_ != nullptr && outer_->is_visible(name);
  }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  Graph& graph_;
  CaptureList* outer_;
  std::unordered_map<std::string, ValueId, Hash, std::equal_to<>> names_;
};

}  // namespace sardonyx
