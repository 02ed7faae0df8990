// The CPU provider's compile: canonical model -> fused -> lowered -> Program. Called by session; the
// artifact road imports what this makes.
#pragma once

#include <functional>
#include <string_view>

#include "base/cpu.h"
#include "ir/model.h"
#include "passes/pass.h"
#include "plan/program.h"

namespace sardonyx::cpu {

struct CompileOptions {
  Isa isa = Isa::kBaseline;
  PipelineOptions pipeline;  // level, disabled names, budget of edits, progress; stage is set here
  // Sees the model after a stage: "fused", "lowered".
  std::function<void(std::string_view stage, const Model& model)> observer;
};

// Rewrites the model in place. Appends what its passes did to `report`. Throws Error.
Program compile(Model& model, const CompileOptions& options, PipelineReport& report);

}  // namespace sardonyx::cpu
