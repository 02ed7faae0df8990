// The cold road: bytes of an ONNX model -> imported graph -> resolved -> canonical -> the CPU's
// Program. Called by Session, and by the command line's inspection, which looks in at every stage.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "artifact/artifact.h"
#include "base/cpu.h"
#include "passes/pass.h"
#include "plan/program.h"
#include "sardonyx/compile.h"
#include "sardonyx/session.h"

namespace sardonyx {

struct CompiledModel {
  Program program;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<Tensor> defaults;  // per input; undefined when the input must be given
  ModelMetadata metadata;
  std::vector<std::string> warnings;
  PipelineReport imported;   // what makes the file's graph ready for them: inlining, inference
  Isa isa = Isa::kBaseline;  // the row that steps bind to
  // Input shapes to prepare for, one entry per input of the model.
  std::vector<std::vector<Shape>> shapes;
  PipelineReport canonical;                         // passes on portable operators
  PipelineReport fused;                             // passes of the CPU provider
  std::vector<artifact::UncheckedWeights> weights;  // still to be checked
};

// "imported" (as the file says: functions are calls, nothing is inferred), "canonical", "fused",
// "lowered".
using StageObserver = std::function<void(std::string_view stage, const Model& model)>;

// Throws Error(kInvalidArgument) for a name that no pass or rule has.
void check_pass_names(const std::vector<std::string>& names);

// For processors of level `target`, which may be above this one's. Throws Error as Session's
// constructor does.
CompiledModel compile_model(const ModelSource& source, const Options& options, Isa target,
                            const StageObserver& observer = {});

}  // namespace sardonyx
