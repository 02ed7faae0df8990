#include "cpu/compile.h"

#include <algorithm>
#include <chrono>

#include "cpu/lower.h"
#include "ops/resolve.h"
#include "passes/passes.h"

namespace sardonyx::cpu {
namespace {

struct LowerPass {
  const char* name;
  void (*function)(Graph& graph, PassContext& context, const Target& target);
};

// In this order. Lowering runs at every level: it is how this provider computes, not an
// optimisation of the graph; a pass can still be disabled by name.
constexpr LowerPass kLowerPasses[] = {
    // Now that rules have seen quantised weights, those that are left become floats.
    {"constant_folding",
     [](Graph& graph, PassContext& context, const Target&) { fold_constants(graph, context); }},
    {"pack_gemm", pack_gemm},
    {"pack_int8_gemm", pack_int8_gemm},
    {"pack_recurrent", pack_recurrent},
    {"conv_1d", widen_conv_1d},
    {"layout", lower_layout},
    {"constant_folding",
     [](Graph& graph, PassContext& context, const Target&) { fold_constants(graph, context); }},
    {"dead_code",
     [](Graph& graph, PassContext& context, const Target&) { remove_dead_code(graph, context); }},
};

void run_on(const LowerPass& pass, Graph& graph, PassContext& context, const Target& target) {
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    if (!graph.node(id).alive) continue;
    for_each_subgraph(graph.node(id),
                      [&](const std::string&, Graph& sub) { run_on(pass, sub, context, target); });
  }
  pass.function(graph, context, target);
  graph.sort();
}

// Rows of `more` are added to `report`.
void append(PipelineReport& report, PipelineReport more) {
  for (PassReport& row : more.passes) {
    const auto at = std::find_if(report.passes.begin(), report.passes.end(),
                                 [&](const PassReport& old) { return old.name == row.name; });
    if (at == report.passes.end()) {
      report.passes.push_back(std::move(row));
      continue;
    }
    at->nanoseconds += row.nanoseconds;
    at->applied += row.applied;
    for (const auto& [reason, count] : row.rejected) at->rejected[reason] += count;
  }
  report.nodes_after = more.nodes_after;
  report.edits_done = more.edits_done;
  if (!more.last_edit.empty()) report.last_edit = more.last_edit;
}

int64_t living_nodes(const Graph& graph) {
  return std::count_if(graph.order().begin(), graph.order().end(),
                       [&](NodeId id) { return graph.node(id).alive; });
}

PipelineReport lower(Model& model, const PipelineOptions& options, const Target& target) {
  using Clock = std::chrono::steady_clock;
  PipelineReport report;
  PassContext context(model, options, report);
  for (const LowerPass& pass : kLowerPasses) {
    if (!context.enabled(pass.name)) continue;
    context.check_cancelled();
    const Clock::time_point start = Clock::now();
    run_on(pass, *model.graph, context, target);
    context.add_time(pass.name, std::chrono::nanoseconds(Clock::now() - start).count());
  }
  report.nodes_after = living_nodes(*model.graph);
  return report;
}

}  // namespace

std::vector<std::string> lower_pass_names() {
  std::vector<std::string> names;
  for (const LowerPass& pass : kLowerPasses) names.emplace_back(pass.name);
  return names;
}

Program compile(Model& model, const CompileOptions& options, PipelineReport& report) {
  PipelineOptions pipeline = options.pipeline;
  pipeline.stage = Stage::kFused;
  report = run_pipeline(model, pipeline);
  if (options.observer) options.observer("fused", model);
  pipeline.edits_done = report.edits_done;
  pipeline.fold_dequantize = true;
  append(report, lower(model, pipeline, {options.isa, options.block}));
  if (options.observer) options.observer("lowered", model);
  return make_program(*model.graph);
}

}  // namespace sardonyx::cpu
