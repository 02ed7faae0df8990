// The passes that are walks over a whole graph, one file each. Pattern rules are in rules/.
#pragma once

#include "passes/pass.h"

namespace sardonyx {

// Calls of model-local functions become the functions' bodies; counts the calls.
void inline_function_calls(Graph& graph, PassContext& context);

// Binds every node to its operator and infers types, shapes and small integer values.
void resolve(Graph& graph, PassContext& context);

// Constant nodes become constants. Required at every level.
void lift_constant_nodes(Graph& graph, PassContext& context);

// Infers types, shapes and small integer values again, with what folding made known.
void infer_again(Graph& graph, PassContext& context);

// Evaluates nodes whose inputs are constants; see constant_folding.cc for what it leaves alone.
void fold_constants(Graph& graph, PassContext& context);

// Values whose integer elements are all known from inference become constants.
void fold_known_integers(Graph& graph, PassContext& context);

// Inside subgraphs, captured values that are constants outside become constants.
void lower_captured_constants(Graph& graph, PassContext& context);

// Merges nodes that compute the same, and equal small constants.
void merge_common_subexpressions(Graph& graph, PassContext& context);

void remove_dead_code(Graph& graph, PassContext& context);

// All pattern rules of the stage.
void rewrite(Graph& graph, PassContext& context);

}  // namespace sardonyx
