#include "inspect_graph.h"

#include "command.h"
#include "ir/text_print.h"
#include "model_file.h"
#include "session/compile_model.h"

namespace sardonyx::cli {
namespace {

void count_operators(const Graph& graph, std::map<std::string, int64_t>& counts) {
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!node.alive) continue;
    ++counts[node.domain.empty() ? node.op : node.domain + "." + node.op];
    for (const auto& [name, attribute] : node.attributes) {
      if (const auto* one = std::get_if<std::shared_ptr<Graph>>(&attribute)) {
        count_operators(**one, counts);
      } else if (const auto* many = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute)) {
        for (const std::shared_ptr<Graph>& graph_of_many : *many) {
          count_operators(*graph_of_many, counts);
        }
      }
    }
  }
}

void add_passes(const char* stage, const PipelineReport& report, std::vector<PassRow>& rows) {
  for (const PassReport& pass : report.passes) {
    rows.push_back({stage, pass.name, static_cast<double>(pass.nanoseconds) / 1e6, pass.applied,
                    pass.rejected});
  }
}

}  // namespace

Inspection inspect_model(const std::filesystem::path& path, const Options& options,
                         const std::string& graph_stage, int64_t max_elements) {
  Inspection inspection;
  PrintOptions print_options;
  print_options.max_elements = max_elements;
  try {
    CompiledModel compiled = compile_model(ModelSource(path), options, best_isa(),
                                           [&](std::string_view stage, const Model& model) {
                                             StageCounts& counts = inspection.stages.emplace_back();
                                             counts.name = stage;
                                             count_operators(*model.graph, counts.operators);
                                             if (stage == graph_stage)
                                               inspection.graph_text = print(model, print_options);
                                           });
    inspection.metadata = std::move(compiled.metadata);
    inspection.inputs = std::move(compiled.inputs);
    inspection.outputs = std::move(compiled.outputs);
    inspection.warnings = std::move(compiled.warnings);
    inspection.last_edit =
        compiled.fused.last_edit.empty() ? compiled.canonical.last_edit : compiled.fused.last_edit;
    add_passes("imported", compiled.imported, inspection.passes);
    add_passes("canonical", compiled.canonical, inspection.passes);
    add_passes("fused", compiled.fused, inspection.passes);
  } catch (const Error& error) {
    // What stops a later stage must not hide the graph that was asked for.
    if (inspection.graph_text.empty()) throw model_error(path, error);
  }
  return inspection;
}

}  // namespace sardonyx::cli
