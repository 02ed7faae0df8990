// Provider: whoever executes a part of a model - the CPU, or a vendor's library behind the plugin
// host. Shaped like OrtEp, so that built-in and vendor providers are peers: it is shown the
// canonical graph, claims nodes, compiles each group it got into one Kernel, and may save what it
// compiled as bytes that load without compiling. Called by partition and session.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ir/model.h"
#include "ops/op.h"

namespace sardonyx {

// Nodes to run as one. After partition a group is convex: no path leaves it and comes back.
using NodeGroup = std::vector<NodeId>;

class Provider {
 public:
  virtual ~Provider() = default;

  // "CPUExecutionProvider".
  virtual std::string_view name() const = 0;

  // The groups it would run, of nodes for which `is_free` is true. Must not change the graph.
  virtual std::vector<NodeGroup> claim(const Graph& graph,
                                       const std::vector<bool>& is_free) const = 0;

  // Makes a group executable. `part` is a model of the group alone, whose inputs and outputs are in
  // the order of the node that stands for the group; it may be changed. Throws Error.
  virtual std::unique_ptr<Kernel> compile(Model& part) const = 0;

  // Bytes from which load() makes an equal kernel in another process; empty: cannot be saved.
  virtual std::vector<std::byte> save(const Kernel&) const { return {}; }
  // Throws Error(kInvalidGraph) when the bytes are not of this provider or version. The bytes come
  // from a file and are hostile until checked.
  virtual std::unique_ptr<Kernel> load(std::span<const std::byte> bytes) const;
};

}  // namespace sardonyx
