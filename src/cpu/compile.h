// The CPU provider's road from a canonical model to a Program: fused rules, lowering (packed matrix
// products, the blocked layout), folding again (which packs the weights), flattening. Called by
// session, and with other targets by ahead-of-time compilation: nothing here asks the machine.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu.h"
#include "passes/pass.h"
#include "plan/program.h"

namespace sardonyx::cpu {

struct CompileOptions {
  Isa isa = best_isa();  // the row whose tiles weights are packed for
  int block = 8;         // width of the blocked layout
  // Level, disabled passes (lower_pass_names() lists those of lowering), edit budget, progress,
  // cancel. The stage is set here.
  PipelineOptions pipeline;
  // Called with "fused" and "lowered".
  std::function<void(std::string_view stage, const Model& model)> observer;
};

// Changes the model, which must be canonical. `report` gets the passes of both stages. Throws
// Error.
Program compile(Model& model, const CompileOptions& options, PipelineReport& report);

// Names of the passes of lowering: what `disabled` may hold beside pass_names().
std::vector<std::string> lower_pass_names();

}  // namespace sardonyx::cpu
