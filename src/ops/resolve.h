// Binding nodes to operators: sets Node::version from the opset imports, checks every node against
// its schema (arity, attribute names and kinds, element types) and infers types, shapes and small
// integer values through the whole graph. Called by session after reading and by passes after
// edits.
#pragma once

#include "ir/model.h"
#include "ops/op.h"

namespace sardonyx {

// Of the default domain. Operators of a newer one are taken as this one defines them.
inline constexpr int64_t kNewestOpset = 28;

struct ResolveOptions {
  bool lenient_attributes = false;  // accept unknown attributes of known operators with a warning
};

// Binds and infers every node of the model's graph and subgraphs. Model-local functions must have
// been inlined. Throws Error(kNotImplemented) for an unknown operator or domain (naming the nearest
// known one), Error(kInvalidGraph) for a node that breaks its schema. A node whose version is set
// already keeps it.
void resolve_model(Model& model, const ResolveOptions& options = {});

// The operator that a node with a version is bound to. Throws Error(kNotImplemented) as above.
const OpDef& op_of(const Node& node);

// Sets Node::version. Throws as resolve_model.
void bind_node(Node& node, const OpsetImports& imports);

// Infers one node whose inputs' types are set; writes types and ints of its outputs. Used on new
// nodes.
void infer_node(Graph& graph, NodeId id);

// Infers all nodes in order (after edits).
void infer_graph(Graph& graph);

// Inserts the bodies of model-local functions in place of their calls (attributes substituted,
// names made unique) and drops the functions. The rule for a call whose name is also a standard
// operator: the model's function wins. Nodes of a body are bound with the function's own imports.
// Returns the number of calls. Throws Error(kInvalidGraph) for recursion or a call with too many
// inputs or outputs.
int64_t inline_functions(Model& model);

}  // namespace sardonyx
