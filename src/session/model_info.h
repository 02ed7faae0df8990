// What a model says about itself, in the public API's terms.
#pragma once

#include "ir/model.h"
#include "sardonyx/session.h"

namespace sardonyx {

ModelMetadata metadata_of(const Model& model);
ValueInfo value_info_of(const Graph& graph, ValueId id);

// What to say of an output: the name and dimension names that the model declares, with the shape
// that inference found where the two disagree or the model is silent.
ValueInfo merge_output_info(const ValueInfo& declared, const ValueInfo& inferred);

// Fixes symbolic input dimensions by their names in the model. Throws Error(kInvalidArgument) for a
// name that no input has and for a negative value.
void override_free_dimensions(Graph& graph, const std::map<std::string, int64_t>& values);

}  // namespace sardonyx
