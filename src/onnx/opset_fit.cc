#include "onnx/opset_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

using ByDomain = std::map<std::string, std::vector<const Node*>>;

void collect(const Graph& graph, const Model& model, ByDomain& nodes) {
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!node.alive) continue;
    if (node.version != 0 || model.find_function(node.domain, node.op, node.overload) == nullptr) {
      nodes[node.domain].push_back(&node);
    }
    for_each_subgraph(
        node, [&](const std::string&, const Graph& inner) { collect(inner, model, nodes); });
  }
}

class Fit {
 public:
  Fit(int64_t import, const WriteOptions& options) : import_(import), options_(options) {}

  // Would `node` be read back as what it is under an import of `version`?
  bool operator()(const Node& node, int64_t version) const {
    if (options_.bound_version) {
      const int bound = options_.bound_version(node, version);
      return bound == (node.version != 0 ? node.version : options_.bound_version(node, import_));
    }
    if (version == import_) return node.version <= version;
    return node.version == version;
  }

 private:
  int64_t import_;
  const WriteOptions& options_;
};

std::string describe_bound(const Node& node) {
  return node.version != 0 ? describe(node)
                           : fmt::format("{} '{}' (not bound to a version)", node.op, node.name);
}

}  // namespace

OpsetImports fitting_imports(const Graph& graph, const OpsetImports& imports, const Model& model,
                             const WriteOptions& options) {
  OpsetImports result = imports;
  ByDomain by_domain;
  collect(graph, model, by_domain);
  for (const auto& [domain, nodes] : by_domain) {
    const auto at = imports.find(domain);
    const int64_t import = at == imports.end() ? 0 : at->second;
    const Fit fits(import, options);
    const auto misfit = std::find_if(nodes.begin(), nodes.end(),
                                     [&](const Node* node) { return !fits(*node, import); });
    if (misfit == nodes.end()) continue;
    int64_t newest = import;
    for (const Node* node : nodes) newest = std::max<int64_t>(newest, node->version);
    for (const Node* node : nodes) {
      if (newest != import && fits(*node, newest)) continue;
      throw Error(
          ErrorCode::kInvalidGraph,
          fmt::format("the model cannot be written: {} does not fit the opset import {} of domain "
                      "'{}', and {} does not fit {}; convert the model to a newer opset first",
                      describe_bound(**misfit), import, domain.empty() ? "ai.onnx" : domain,
                      describe_bound(*node), newest));
    }
    result[domain] = newest;
  }
  return result;
}

}  // namespace sardonyx
