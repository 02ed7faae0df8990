// Several compiled parts of one model become one Program. Called when a compiled model is loaded.
#pragma once

#include <vector>

#include "artifact/artifact.h"
#include "onnx/ep_context.h"
#include "session/compile_model.h"

namespace sardonyx {

// The parts of the model's nodes, in their order, which must be one in which they can run. Sets the
// Program and its target; what a session shows is left empty. Throws Error(kInvalidGraph) when the
// nodes and parts do not fit together, kFail when the parts were compiled for different targets.
CompiledModel join_parts(const EpContextModel& model, std::vector<artifact::CompiledPart> parts);

// The element types that the model's file declares are those of the Program; throws
// Error(kInvalidGraph).
void check_described_types(const CompiledModel& model);

}  // namespace sardonyx
