#include "cpu/compile.h"

namespace sardonyx::cpu {

Program compile(Model& model, const CompileOptions& options, PipelineReport& report) {
  PipelineOptions pipeline = options.pipeline;
  pipeline.stage = Stage::kFused;
  report = run_pipeline(model, pipeline);
  if (options.observer) options.observer("fused", model);
  model.graph->sort();
  return make_program(*model.graph);
}

}  // namespace sardonyx::cpu
