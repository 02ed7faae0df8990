#include "ir/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

class Verifier {
 public:
  Verifier(const Graph& graph, NameRule names)
      : graph_(graph), names_(names), state_(graph.value_count(), kUndefined) {}

  void run(const Node* holder) {
    define_entries(holder);
    check_nodes();
    check_outputs();
    check_values();
  }

 private:
  enum State : uint8_t { kUndefined, kDefined };

  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("graph '{}': {}", graph_.name,
                            fmt::format(format, std::forward<Args>(args)...)));
  }

  std::string label(ValueId id) const {
    const std::string& name = graph_.value(id).name;
    return name.empty() ? fmt::format("#{}", static_cast<int>(id)) : fmt::format("'{}'", name);
  }

  void check_id(ValueId id, const char* where) const {
    const auto i = static_cast<int64_t>(id);
    if (i < 0 || i >= static_cast<int64_t>(graph_.value_count())) {
      fail("{} refers to value {}, there are {}", where, i, graph_.value_count());
    }
    if (!graph_.value(id).alive) fail("{} refers to the deleted value {}", where, label(id));
  }

  void define(ValueId id, const char* where) {
    State& state = state_[static_cast<size_t>(id)];
    if (state == kDefined)
      fail("value {} is defined twice, the second time by {}", label(id), where);
    state = kDefined;
  }

  void define_entry(ValueId id, const char* where) {
    check_id(id, where);
    if (graph_.value(id).producer != NodeId::kNone) {
      fail("value {} is {} and the result of a node", label(id), where);
    }
    define(id, where);
  }

  void define_entries(const Node* holder) {
    for (ValueId id : graph_.inputs()) define_entry(id, "an input");
    for (const Capture& capture : graph_.captures()) {
      define_entry(capture.inner, "a capture");
      if (holder == nullptr) continue;
      if (capture.index < 0 || static_cast<size_t>(capture.index) >= holder->captures.size()) {
        fail("capture {} has index {}, {} has {} implicit inputs", label(capture.inner),
             capture.index, describe(*holder), holder->captures.size());
      }
    }
    for (size_t i = 0; i < graph_.value_count(); ++i) {
      const auto id = static_cast<ValueId>(i);
      const GraphValue& value = graph_.value(id);
      if (!value.alive || !value.is_constant()) continue;
      if (value.producer != NodeId::kNone) {
        fail("value {} is a constant and the result of {}", label(id),
             describe(graph_.node(value.producer)));
      }
      if (state_[i] == kUndefined) define(id, "a constant");
    }
  }

  void check_use(const Node& node, ValueId id, const char* what) const {
    check_id(id, what);
    if (state_[static_cast<size_t>(id)] == kDefined) return;
    const NodeId producer = graph_.value(id).producer;
    if (producer == NodeId::kNone) {
      fail("{} uses {}, which nothing defines", describe(node), label(id));
    }
    fail("{} uses {} before {} defines it", describe(node), label(id),
         describe(graph_.node(producer)));
  }

  void check_nodes() {
    std::vector<uint8_t> seen(graph_.node_count(), 0);
    users_.resize(graph_.value_count());
    for (NodeId id : graph_.order()) {
      const auto i = static_cast<int64_t>(id);
      if (i < 0 || i >= static_cast<int64_t>(graph_.node_count())) {
        fail("the order refers to node {}, there are {}", i, graph_.node_count());
      }
      const Node& node = graph_.node(id);
      if (!node.alive) continue;
      if (seen[static_cast<size_t>(id)]++ != 0) fail("{} is in the order twice", describe(node));
      check_node(id, node);
    }
    for (size_t i = 0; i < seen.size(); ++i) {
      const Node& node = graph_.node(static_cast<NodeId>(i));
      if (node.alive && seen[i] == 0) fail("{} is not in the order", describe(node));
    }
  }

  void check_node(NodeId id, const Node& node) {
    for (ValueId use : node.inputs) {
      if (use == ValueId::kNone) continue;
      check_use(node, use, "an input of a node");
      users_[static_cast<size_t>(use)].push_back(id);
    }
    for (size_t i = 0; i < node.captures.size(); ++i) {
      const ValueId use = node.captures[i];
      check_use(node, use, "an implicit input of a node");
      users_[static_cast<size_t>(use)].push_back(id);
    }
    for_each_subgraph(node, [&](const std::string& attribute, const Graph& inner) {
      if (inner.shared_dims() != graph_.shared_dims()) {
        fail("subgraph '{}' of {} has a table of dimensions of its own", attribute, describe(node));
      }
      Verifier(inner, names_).run(&node);
    });
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId out = node.outputs[i];
      if (out == ValueId::kNone) continue;
      check_id(out, "an output of a node");
      const GraphValue& value = graph_.value(out);
      if (value.producer != id || value.output_index != static_cast<int>(i)) {
        fail("value {} is output {} of {} but does not name it as its producer", label(out), i,
             describe(node));
      }
      define(out, describe(node).c_str());
    }
  }

  void check_outputs() const {
    for (ValueId id : graph_.outputs()) {
      check_id(id, "an output of the graph");
      if (state_[static_cast<size_t>(id)] != kDefined) {
        fail("output {} of the graph is defined nowhere", label(id));
      }
    }
  }

  void check_values() {
    std::unordered_set<std::string> names;
    for (size_t i = 0; i < graph_.value_count(); ++i) {
      const auto id = static_cast<ValueId>(i);
      const GraphValue& value = graph_.value(id);
      if (!value.alive) continue;
      if (names_ == NameRule::kUnique && !value.name.empty() && !names.insert(value.name).second) {
        fail("two values have the name '{}'", value.name);
      }
      if (value.producer != NodeId::kNone && state_[i] != kDefined) {
        fail("value {} names a producer that does not list it", label(id));
      }
      std::vector<NodeId> listed(value.users.begin(), value.users.end());
      std::sort(listed.begin(), listed.end());
      std::sort(users_[i].begin(), users_[i].end());
      if (listed != users_[i]) {
        fail("value {} lists {} uses, nodes have {}", label(id), listed.size(), users_[i].size());
      }
      if (value.is_constant() && value.type.is_tensor() &&
          value.type.element != value.constant.type()) {
        fail("constant {} is {}, its type says {}", label(id), name_of(value.constant.type()),
             name_of(value.type.element));
      }
    }
  }

  const Graph& graph_;
  const NameRule names_;
  std::vector<State> state_;
  std::vector<std::vector<NodeId>> users_;
};

}  // namespace

void verify(const Graph& graph, NameRule names) { Verifier(graph, names).run(nullptr); }

}  // namespace sardonyx
