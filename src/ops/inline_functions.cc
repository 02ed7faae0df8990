#include <fmt/format.h>

#include <unordered_map>

#include "ops/resolve.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

constexpr int kMaxCallDepth = 100;
// Some times what the largest models have; functions that call each other twice reach it in
// eighteen levels.
constexpr size_t kMaxInlinedNodes = size_t{1} << 18;

void clone_graphs(AttributeValue& value) {
  if (auto* graph = std::get_if<std::shared_ptr<Graph>>(&value)) {
    if (*graph) *graph = (*graph)->clone();
  } else if (auto* graphs = std::get_if<std::vector<std::shared_ptr<Graph>>>(&value)) {
    for (std::shared_ptr<Graph>& each : *graphs) {
      if (each) each = each->clone();
    }
  }
}

class Inliner {
 public:
  explicit Inliner(const Model& model) : model_(model) {}

  void run(Graph& graph) { run(graph, 0); }
  int64_t calls() const { return calls_; }

 private:
  const Function* callee_of(const Node& node) const {
    const Function* function = model_.find_function(node.domain, node.op, node.overload);
    if (function == nullptr && node.domain.empty()) {
      function = model_.find_function("ai.onnx", node.op, node.overload);
    }
    return function;
  }

  // Nodes that came out of a call at `depth` are at depth + 1.
  void run(Graph& graph, int depth) {
    bool changed = false;
    // A stack, first node on top, so that bodies are added in the order of their calls.
    std::vector<std::pair<NodeId, int>> pending;
    const auto push = [&](const std::vector<NodeId>& ids, int level) {
      for (size_t i = ids.size(); i-- > 0;) pending.emplace_back(ids[i], level);
    };
    push(graph.order(), depth);
    while (!pending.empty()) {
      const auto [id, at] = pending.back();
      pending.pop_back();
      if (!graph.node(id).alive) continue;
      const Function* function = callee_of(graph.node(id));
      if (function == nullptr) {
        for_each_subgraph(graph.node(id), [&](const std::string&, Graph& body) { run(body, at); });
        continue;
      }
      if (at >= kMaxCallDepth) {
        throw Error(ErrorCode::kInvalidGraph,
                    fmt::format("{}: functions call each other more than {} deep (recursion?)",
                                describe(graph.node(id)), kMaxCallDepth));
      }
      push(expand(graph, id, *function), at + 1);
      ++calls_;
      changed = true;
    }
    if (changed) graph.sort();
  }

  std::vector<NodeId> expand(Graph& graph, NodeId id, const Function& function) {
    const Node call = graph.node(id);
    const Graph& body = *function.body;
    if (call.inputs.size() > body.inputs().size() || call.outputs.size() > body.outputs().size()) {
      throw Error(
          ErrorCode::kInvalidGraph,
          fmt::format("{}: called with {} inputs and {} outputs; the function has {} and {}",
                      describe(call), call.inputs.size(), call.outputs.size(), body.inputs().size(),
                      body.outputs().size()));
    }
    const std::string prefix = fmt::format("{}/", call.name.empty() ? call.op : call.name);
    graph.remove_node(id);

    constexpr auto kUnmapped = static_cast<ValueId>(-2);
    std::vector<ValueId> map(body.value_count(), kUnmapped);
    const auto at = [&](ValueId inner) -> ValueId& { return map[static_cast<size_t>(inner)]; };
    for (size_t i = 0; i < body.inputs().size(); ++i) at(body.inputs()[i]) = call.input(i);

    std::vector<NodeId> fresh;
    // An output that is a formal input, or given twice, needs a node of its own.
    std::vector<std::pair<ValueId, ValueId>> copies;  // inner, outer
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      if (call.outputs[i] == ValueId::kNone) continue;
      const ValueId inner = body.outputs()[i];
      if (at(inner) == kUnmapped && !body.value(inner).is_constant()) {
        at(inner) = call.outputs[i];
      } else {
        copies.emplace_back(inner, call.outputs[i]);
      }
    }
    const auto outer_of = [&](ValueId inner) {
      if (inner == ValueId::kNone) return ValueId::kNone;
      ValueId& outer = at(inner);
      if (outer == kUnmapped) {
        const GraphValue& value = body.value(inner);
        const std::string name = unique_name(graph, prefix + value.name);
        outer = value.is_constant() ? graph.add_constant(name, value.constant)
                                    : graph.add_value(name, value.type);
      }
      return outer;
    };
    for (NodeId inner : body.order()) {
      if (!body.node(inner).alive) continue;
      fresh.push_back(
          graph.add_node(copy_node(body.node(inner), call, function, prefix, outer_of)));
    }
    for (const auto& [inner, outer] : copies) {
      Node copy;
      copy.op = "Identity";
      copy.name = prefix + "Identity";
      copy.version = identity_version();
      copy.inputs = {outer_of(inner)};
      copy.outputs = {outer};
      fresh.push_back(graph.add_node(std::move(copy)));
    }
    added_ += fresh.size();
    if (added_ > kMaxInlinedNodes) {
      throw Error(ErrorCode::kInvalidGraph,
                  fmt::format("{}: inlining functions made more than {} nodes", describe(call),
                              kMaxInlinedNodes));
    }
    return fresh;
  }

  template <typename OuterOf>
  Node copy_node(const Node& inner, const Node& call, const Function& function,
                 const std::string& prefix, const OuterOf& outer_of) const {
    Node node = inner;
    node.name = prefix + (inner.name.empty() ? inner.op : inner.name);
    for (ValueIds* ids : {&node.inputs, &node.outputs, &node.captures}) {
      for (ValueId& each : *ids) each = outer_of(each);
    }
    substitute(node, call, function, /*own_subgraphs=*/true);
    return node;
  }

  // Replaces attribute references and binds the node with the function's imports. The subgraphs of
  // a copied node are copied first; those inside them are part of that copy.
  void substitute(Node& node, const Node& call, const Function& function,
                  bool own_subgraphs) const {
    Attributes attributes;
    for (auto& [name, value] : node.attributes) {
      if (const AttributeRef* reference = get_held<AttributeRef>(value)) {
        const AttributeValue* actual = call.attributes.find(reference->name);
        if (actual == nullptr) actual = function.attribute_defaults.find(reference->name);
        if (actual != nullptr) {
          AttributeValue copied = *actual;
          clone_graphs(copied);
          attributes.set(name, std::move(copied));
        }
      } else {
        if (own_subgraphs) clone_graphs(value);
        attributes.set(name, std::move(value));
      }
    }
    node.attributes = std::move(attributes);
    if (callee_of(node) == nullptr && node.version == 0) bind_node(node, function.opset_imports);
    for_each_subgraph(node, [&](const std::string&, Graph& body) {
      for (NodeId id : body.order()) substitute(body.node(id), call, function, false);
    });
  }

  int identity_version() const {
    const OpDef* identity = find_op("", "Identity");
    const auto import = model_.opset_imports.find("");
    const OpVersion* version =
        import == model_.opset_imports.end() ? nullptr : find_version(*identity, import->second);
    return version != nullptr ? version->since : identity->versions.back().since;
  }

  std::string unique_name(const Graph& graph, std::string name) {
    // Each name in use, with the number to try next: many calls of one function give one name.
    std::unordered_map<std::string, int>& used = names_[&graph];
    if (used.empty()) {
      for (size_t i = 0; i < graph.value_count(); ++i) {
        used.try_emplace(graph.value(static_cast<ValueId>(i)).name, 1);
      }
    }
    const auto [at, is_new] = used.try_emplace(name, 1);
    if (is_new) return name;
    int& next = at->second;  // stays valid when the map grows
    for (;;) {
      std::string candidate = fmt::format("{}_{}", name, next++);
      if (used.try_emplace(candidate, 1).second) return candidate;
    }
  }

  const Model& model_;
  std::unordered_map<const Graph*, std::unordered_map<std::string, int>> names_;
  size_t added_ = 0;
  int64_t calls_ = 0;
};

}  // namespace

int64_t inline_functions(Model& model) {
  if (model.functions.empty()) return 0;
  Inliner inliner(model);
  inliner.run(*model.graph);
  model.functions.clear();
  return inliner.calls();
}

}  // namespace sardonyx
