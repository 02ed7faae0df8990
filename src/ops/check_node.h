// Checks one node against its schema. Called by the resolver, and for the steps of compiled models.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "ir/graph.h"
#include "ops/schema.h"

namespace sardonyx {

// Arity, attribute names and kinds, types of the inputs and, where they are known, the outputs.
// `input_types` has one entry per input of the node, `output_types` one per output or none at all;
// null: absent; a type of kind kUnknown is not checked. `warn` receives unknown attributes; null:
// they are errors. Throws Error(kInvalidGraph).
void check_node(const Node& node, const Schema& schema,
                std::span<const ValueType* const> input_types,
                const std::function<void(const std::string&)>* warn,
                std::span<const ValueType* const> output_types = {});

}  // namespace sardonyx
