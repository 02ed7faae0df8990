// Do the nodes of a graph mean the same operators when they are read back under given opset
// imports? Passes may have put in nodes of newer versions. Used by write_model().
#pragma once

#include "ir/model.h"
#include "onnx/writer.h"

namespace sardonyx {

// `imports`, with the versions raised that must be. Calls of `model`'s functions fit any import.
// Throws Error(kInvalidGraph) naming two nodes that fit no common import.
OpsetImports fitting_imports(const Graph& graph, const OpsetImports& imports, const Model& model,
                             const WriteOptions& options);

}  // namespace sardonyx
