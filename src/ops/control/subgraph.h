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

// What a value may be that is one or the other: dimensions that differ are unknown.
inline ValueType either(const ValueType& a, const ValueType& b) {
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

}  // namespace sardonyx
