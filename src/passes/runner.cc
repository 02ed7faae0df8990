#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "ir/verify.h"
#include "passes/pass.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

int64_t count_nodes(const Graph& graph) {
  int64_t count = 0;
  for (NodeId id : graph.order()) {
    if (!graph.node(id).alive) continue;
    ++count;
    for_each_subgraph(graph.node(id),
                      [&](const std::string&, Graph& sub) { count += count_nodes(sub); });
  }
  return count;
}

// Inner graphs first, so that what a pass finds in them is simple when it sees the node around.
void run_on(const Pass& pass, Graph& graph, PassContext& context) {
  if (pass.per_graph) {
    for (NodeId id : std::vector<NodeId>(graph.order())) {
      if (!graph.node(id).alive) continue;
      for_each_subgraph(graph.node(id),
                        [&](const std::string&, Graph& sub) { run_on(pass, sub, context); });
    }
  }
  const int64_t edits_before = context.edits_done();
  pass.function(graph, context);
  if (context.edits_done() != edits_before) graph.sort();
}

class Stopwatch {
 public:
  int64_t nanoseconds() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

const PassReport* PipelineReport::find(std::string_view name) const {
  const auto at = std::find_if(passes.begin(), passes.end(),
                               [&](const PassReport& pass) { return pass.name == name; });
  return at == passes.end() ? nullptr : &*at;
}

int64_t PipelineReport::applied(std::string_view name) const {
  const PassReport* pass = find(name);
  return pass ? pass->applied : 0;
}

std::string PipelineReport::print() const {
  std::string text = fmt::format("{:<32} {:>9} {:>8}  {}\n", "pass", "ms", "applied", "rejected");
  for (const PassReport& pass : passes) {
    if (pass.applied == 0 && pass.rejected.empty() && pass.nanoseconds < 100'000) continue;
    std::string reasons;
    for (const auto& [reason, count] : pass.rejected) {
      reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", count, reason);
    }
    text += fmt::format("{:<32} {:>9.3f} {:>8}  {}\n", pass.name, pass.nanoseconds * 1e-6,
                        pass.applied, reasons);
  }
  text += fmt::format("nodes: {} -> {}\n", nodes_before, nodes_after);
  return text;
}

int64_t PassContext::opset(const std::string& domain) const {
  const auto at = model_.opset_imports.find(domain);
  return at == model_.opset_imports.end() ? 0 : at->second;
}

PassReport& PassContext::row(std::string_view name) {
  const auto [at, added] = rows_.try_emplace(std::string(name), report_.passes.size());
  if (added) report_.passes.emplace_back().name = name;
  return report_.passes[at->second];
}

bool PassContext::take_edit(std::string_view name, const Node& at) {
  check_cancelled();
  if (!edits_left()) return false;
  ++report_.edits_done;
  ++row(name).applied;
  if (options_.max_edits >= 0) report_.last_edit = fmt::format("{} at {}", name, describe(at));
  return true;
}

void PassContext::reject(std::string_view name, std::string_view reason, const Graph& graph,
                         NodeId at) {
  PassReport& pass = row(name);
  const auto index = static_cast<size_t>(&pass - report_.passes.data());
  if (rejected_.emplace(index, &graph, at).second) ++pass.rejected[std::string(reason)];
}

void PassContext::add_time(std::string_view name, int64_t nanoseconds) {
  row(name).nanoseconds += nanoseconds;
}

void PassContext::check_cancelled() const {
  if (options_.cancel && options_.cancel->load(std::memory_order_relaxed)) {
    throw Error(ErrorCode::kModelLoadCanceled, "the optimisation was cancelled");
  }
}

PipelineReport run_phases(Model& model, const std::vector<Phase>& phases,
                          const PipelineOptions& options) {
  PipelineReport report;
  report.nodes_before = count_nodes(*model.graph);
  PassContext context(model, options, report);
  int total = 0;
  for (const Phase& phase : phases) total += static_cast<int>(phase.passes.size());
  int done = 0;
  for (const Phase& phase : phases) {
    for (int round = 0; round < phase.max_rounds; ++round) {
      const int64_t edits_before = context.edits_done();
      for (const Pass& pass : phase.passes) {
        if (pass.level > options.level || !context.enabled(pass.name)) continue;
        context.check_cancelled();
        if (options.progress) options.progress(pass.name, std::min(done, total), total);
        if (round == 0) ++done;
        const Stopwatch watch;
        run_on(pass, *model.graph, context);
        context.add_time(pass.name, watch.nanoseconds());
        if (options.verify) {
          try {
            verify(*model.graph);
          } catch (const Error& error) {
            throw error.with_context(fmt::format("after pass '{}'", pass.name));
          }
        }
      }
      if (context.edits_done() == edits_before || !context.edits_left()) break;
    }
  }
  report.nodes_after = count_nodes(*model.graph);
  return report;
}

PipelineReport run_pipeline(Model& model, const PipelineOptions& options) {
  return run_phases(model, pipeline_of(options.stage), options);
}

}  // namespace sardonyx
