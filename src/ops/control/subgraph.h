// What the control-flow operators share.
#pragma once

#include <string>

#include "ir/graph.h"
#include "ops/infer.h"
#include "ops/schema.h"

namespace sardonyx {

// The subgraph held by `attribute`; null when the node has none (it has moved into a program).
inline const Graph* subgraph_of(const Node& node, std::string_view attribute) {
  const AttributeValue* value = node.attributes.find(attribute);
  const auto* graph = value == nullptr ? nullptr : std::get_if<std::shared_ptr<Graph>>(value);
  return graph == nullptr ? nullptr : graph->get();
}

// Fails when one value would be of two types. What follows was bound to one of them.
inline void require_one_type(const InferContext& context, const std::string& what,
                             const ValueType& a, const ValueType& b) {
  const std::string first = type_string(a), second = type_string(b);
  const auto is_open = [](const std::string& type) {
    return type.find('?') != std::string::npos || type.find("undefined") != std::string::npos;
  };
  if (first == second || is_open(first) || is_open(second)) return;
  context.fail(what + " is " + first + " and " + second + ", expected one type");
}

// The value of a borrowed tensor with memory of its own; sequences and optionals share elements.
inline Tensor keep(const Tensor& borrowed) {
  if (!holds_values(borrowed.type())) return borrowed.clone();
  return tensor_of_values(borrowed.type(), borrowed.values<Tensor>());
}

// What a value may be that is one or the other: dimensions that differ are unknown.
inline ValueType either(const ValueType& a, const ValueType& b) {
  if (a.holds_values() && a.kind == b.kind && a.inner && b.inner) {
    ValueType inner = either(*a.inner, *b.inner);
    return a.kind == ValueType::Kind::kSequence ? ValueType::sequence(std::move(inner))
                                                : ValueType::optional(std::move(inner));
  }
  if (!a.is_tensor() || !b.is_tensor() || a.element != b.element) {
    return a.kind == b.kind && a.element == b.element ? a : ValueType();
  }
  if (!a.shape || !b.shape || a.shape->size() != b.shape->size()) {
    return ValueType::tensor(a.element);
  }
  Dims dims;
  for (size_t i = 0; i < a.shape->size(); ++i) {
    dims.push_back(proven_equal((*a.shape)[i], (*b.shape)[i]) ? (*a.shape)[i] : Dim());
  }
  return ValueType::tensor(a.element, std::move(dims));
}

// A value carried from trip to trip keeps its type; an optional may become what it holds.
inline void check_carried(const InferContext& context, size_t i, const ValueType& before,
                          const ValueType& after) {
  const bool was_optional = before.kind == ValueType::Kind::kOptional && before.inner;
  if (was_optional && type_string(*before.inner) == type_string(after)) return;
  require_one_type(context, "carried value " + std::to_string(i), before, after);
}

}  // namespace sardonyx
