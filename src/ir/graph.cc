#include "ir/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sardonyx/error.h"

namespace sardonyx {

ValueId Graph::add_value(std::string_view value_name, ValueType type) {
  GraphValue& value = values_.emplace_back();
  value.name = value_name;
  value.type = std::move(type);
  output_uses_.push_back(0);
  return static_cast<ValueId>(values_.size() - 1);
}

ValueId Graph::add_input(std::string_view value_name, ValueType type, Tensor default_value) {
  const ValueId id = add_value(value_name, std::move(type));
  inputs_.push_back(id);
  defaults_.push_back(std::move(default_value));
  return id;
}

ValueId Graph::add_constant(std::string_view value_name, Tensor tensor) {
  const ValueId id =
      add_value(value_name, ValueType::tensor(tensor.type(), to_dims(tensor.shape())));
  value(id).constant = std::move(tensor);
  return id;
}

ValueId Graph::add_capture(std::string_view value_name, ValueType type, int capture_index) {
  const ValueId id = add_value(value_name, std::move(type));
  captures_.push_back({id, capture_index});
  return id;
}

void Graph::add_output(ValueId id) {
  outputs_.push_back(id);
  // An id that is no value is kept for verify() to find.
  if (static_cast<size_t>(id) < output_uses_.size()) ++output_uses_[static_cast<size_t>(id)];
}

void Graph::set_output(size_t i, ValueId id) {
  if (outputs_[i] != ValueId::kNone) --output_uses_[static_cast<size_t>(outputs_[i])];
  outputs_[i] = id;
  if (id != ValueId::kNone) ++output_uses_[static_cast<size_t>(id)];
}

void Graph::set_inputs(std::vector<ValueId> ids, std::vector<Tensor> defaults) {
  defaults.resize(ids.size());
  inputs_ = std::move(ids);
  defaults_ = std::move(defaults);
}

NodeId Graph::add_node(Node node) {
  const auto id = static_cast<NodeId>(nodes_.size());
  for (const ValueIds* uses : {&node.inputs, &node.captures}) {
    for (ValueId use : *uses) {
      if (use != ValueId::kNone) value(use).users.push_back(id);
    }
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == ValueId::kNone) continue;
    GraphValue& out = value(node.outputs[i]);
    out.producer = id;
    out.output_index = static_cast<int>(i);
    out.alive = true;
  }
  nodes_.push_back(std::move(node));
  order_.push_back(id);
  return id;
}

void Graph::remove_user(ValueId id, NodeId user) {
  NodeIds& users = value(id).users;
  const NodeId* at = std::find(users.begin(), users.end(), user);
  if (at != users.end()) users.erase(at);
}

void Graph::remove_node(NodeId id) {
  Node& gone = node(id);
  if (!gone.alive) return;
  gone.alive = false;
  for (const ValueIds* uses : {&gone.inputs, &gone.captures}) {
    for (ValueId use : *uses) {
      if (use != ValueId::kNone) remove_user(use, id);
    }
  }
  for (ValueId out : gone.outputs) {
    if (out == ValueId::kNone || value(out).producer != id) continue;
    value(out).producer = NodeId::kNone;
    if (!value(out).is_constant() && !is_output(out)) value(out).alive = false;
  }
}

void Graph::set_input(NodeId id, size_t i, ValueId to) {
  Node& target = node(id);
  while (target.inputs.size() <= i) target.inputs.push_back(ValueId::kNone);
  if (target.inputs[i] != ValueId::kNone) remove_user(target.inputs[i], id);
  target.inputs[i] = to;
  if (to != ValueId::kNone) value(to).users.push_back(id);
}

void Graph::add_node_capture(NodeId id, ValueId outer) {
  node(id).captures.push_back(outer);
  value(outer).users.push_back(id);
}

void Graph::set_node_captures(NodeId id, const ValueIds& outer) {
  for (ValueId old : node(id).captures) remove_user(old, id);
  node(id).captures = outer;
  for (ValueId use : outer) value(use).users.push_back(id);
}

void Graph::replace_uses(ValueId from, ValueId to) {
  if (from == to) return;
  const NodeIds users = value(from).users;
  value(from).users.clear();
  NodeId last = NodeId::kNone;
  for (NodeId user : users) {
    // The uses of one node mostly lie side by side, and all are replaced at once.
    if (std::exchange(last, user) == user) continue;
    Node& target = node(user);
    for (ValueIds* uses : {&target.inputs, &target.captures}) {
      for (ValueId& use : *uses) {
        if (use != from) continue;
        use = to;
        value(to).users.push_back(user);
      }
    }
  }
  if (!is_output(from)) return;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i] == from) set_output(i, to);
  }
}

void Graph::make_constant(ValueId id, Tensor tensor) {
  GraphValue& target = value(id);
  target.type = ValueType::tensor(tensor.type(), to_dims(tensor.shape()));
  target.constant = std::move(tensor);
  const NodeId producer = target.producer;
  target.producer = NodeId::kNone;
  if (producer == NodeId::kNone) return;
  Node& made = node(producer);
  bool still_used = false;
  for (ValueId& out : made.outputs) {
    if (out == id) {
      out = ValueId::kNone;
    } else if (out != ValueId::kNone && use_count(out) != 0) {
      still_used = true;
    }
  }
  if (!still_used) remove_node(producer);
}

bool Graph::is_output(ValueId id) const {
  return id != ValueId::kNone && output_uses_[static_cast<size_t>(id)] != 0;
}

bool Graph::is_input(ValueId id) const {
  return std::find(inputs_.begin(), inputs_.end(), id) != inputs_.end();
}

size_t Graph::use_count(ValueId id) const {
  return value(id).users.size() + output_uses_[static_cast<size_t>(id)];
}

void Graph::sort() {
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(nodes_.size(), kNew);
  std::vector<NodeId> sorted;
  sorted.reserve(order_.size());
  struct Frame {
    NodeId id;
    size_t next;
  };
  std::vector<Frame> stack;
  for (NodeId root : order_) {
    if (!node(root).alive || state[static_cast<size_t>(root)] != kNew) continue;
    stack.push_back({root, 0});
    state[static_cast<size_t>(root)] = kOpen;
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const Node& current = node(frame.id);
      if (frame.next == current.inputs.size() + current.captures.size()) {
        state[static_cast<size_t>(frame.id)] = kDone;
        sorted.push_back(frame.id);
        stack.pop_back();
        continue;
      }
      const size_t i = frame.next++;
      const ValueId use = i < current.inputs.size() ? current.inputs[i]
                                                    : current.captures[i - current.inputs.size()];
      if (use == ValueId::kNone) continue;
      const NodeId producer = value(use).producer;
      if (producer == NodeId::kNone || state[static_cast<size_t>(producer)] == kDone) continue;
      if (state[static_cast<size_t>(producer)] == kOpen) {
        throw Error(ErrorCode::kInvalidGraph,
                    fmt::format("the graph has a cycle through {}", describe(node(producer))));
      }
      state[static_cast<size_t>(producer)] = kOpen;
      stack.push_back({producer, 0});
    }
  }
  order_ = std::move(sorted);
}

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>(*this);
  for (Node& copied : copy->nodes_) {
    for (auto& [key, attribute] : copied.attributes) {
      if (auto* graph = std::get_if<std::shared_ptr<Graph>>(&attribute)) {
        if (*graph) *graph = (*graph)->clone();
      } else if (auto* graphs = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute)) {
        for (auto& each : *graphs) {
          if (each) each = each->clone();
        }
      }
    }
  }
  return copy;
}

void for_each_subgraph(const Node& node,
                       const std::function<void(const std::string&, Graph&)>& visit) {
  for (const auto& [key, attribute] : node.attributes) {
    if (const auto* graph = std::get_if<std::shared_ptr<Graph>>(&attribute)) {
      if (*graph) visit(key, **graph);
    } else if (const auto* graphs = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute)) {
      for (const auto& each : *graphs) {
        if (each) visit(key, *each);
      }
    }
  }
}

std::string describe(const Node& node) {
  return fmt::format("{}{} ({}, version {})", node.op,
                     node.name.empty() ? "" : fmt::format(" '{}'", node.name),
                     node.domain.empty() ? "ai.onnx" : node.domain, node.version);
}

}  // namespace sardonyx
