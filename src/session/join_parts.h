// Several compiled parts of one model become one Program. Called when a compiled model is loaded.
#pragma once

#include <vector>

#include "artifact/artifact.h"
#include "onnx/ep_context.h"
#include "session/compile_model.h"

namespace sardonyx {

// Is `part` the whole model as it stands: does its one node take the model's inputs and make its
// outputs, each in its place and under the name that the part has for it?
bool is_whole(const EpContextModel& model, const artifact::CompiledPart& part);

// Throws Error(kInvalidGraph) when the model's file declares an input in a way that contradicts
// what the compiled part takes: another kind or element type, another rank or size.
void check_declared(const EpContextInput& declared, const ValueInfo& taken);

// The parts of the model's nodes, in their order, which must be one in which they can run. Inputs
// and outputs of a node belong to those of its part by position. Sets the Program and its target,
// inputs (of kind kNone where no part reads one), defaults, outputs and warnings; shapes are not
// prepared. Throws Error(kInvalidGraph) when the nodes and parts do not fit together, kFail when
// the parts were compiled for different targets.
CompiledModel join_parts(const EpContextModel& model, std::vector<artifact::CompiledPart> parts);

}  // namespace sardonyx
