// Passes: named, counted changes of a graph, and what runs them. Every edit asks PassContext first,
// so that any pass or rule can be switched off by name, and a global budget of edits lets a bisect
// find the first edit after which outputs differ. run_pipeline() is called by session (canonical
// stage) and by the CPU provider (fused stage).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "ir/model.h"
#include "sardonyx/options.h"

namespace sardonyx {

// kImported: makes a model as read ready for the others: functions inlined, nodes bound and
// inferred; runs whatever the level, cannot be disabled and takes no edits. kCanonical: portable
// operators at the model's own opset. kFused: nodes may be internal operators (domain ai.sardonyx)
// or standard ones newer than the model's opset; each carries its version.
enum class Stage : uint8_t { kImported, kCanonical, kFused };

struct PipelineOptions {
  Stage stage = Stage::kCanonical;
  OptimizationLevel level = OptimizationLevel::kAll;
  std::set<std::string, std::less<>> disabled;  // names of passes and rules
  bool allow_inexact = false;  // rules that change values by more than rounding may run
  // Computes DequantizeLinear of constants. Off, so that quantised models keep what providers
  // match.
  bool fold_dequantize = false;
  int64_t max_edits = -1;  // edit number max_edits is the last that is applied; negative: no limit
  int64_t edits_done = 0;  // edits of earlier pipelines over the same model: numbering goes on
#ifdef NDEBUG
  bool verify = false;  // checks the graph after every pass
#else
  bool verify = true;
#endif
  // Called before every pass with its name, steps done and an upper bound of steps.
  std::function<void(std::string_view pass, int done, int total)> progress;
  // When it turns true the pipeline throws Error(kModelLoadCanceled) at the next edit or pass.
  const std::atomic<bool>* cancel = nullptr;
};

// What one pass or rule did.
struct PassReport {
  std::string name;
  int64_t nanoseconds = 0;
  int64_t applied = 0;
  std::map<std::string, int64_t> rejected;  // reason -> count
};

struct PipelineReport {
  std::vector<PassReport> passes;  // in order of first use; rules are rows of their own
  int64_t nodes_before = 0;        // subgraphs included
  int64_t nodes_after = 0;
  int64_t edits_done = 0;  // PipelineOptions::edits_done plus this pipeline's
  std::string last_edit;   // "hard_swish at Div 'p2o.Div.0' (ai.onnx, version 7)"

  const PassReport* find(std::string_view name) const;
  int64_t applied(std::string_view name) const;
  // A table: name, milliseconds, applied, rejected by reason; rows that did nothing are left out.
  std::string print() const;
};

class PassContext {
 public:
  PassContext(Model& model, const PipelineOptions& options, PipelineReport& report)
      : model_(model), options_(options), report_(report) {
    report_.edits_done = options.edits_done;
  }

  Model& model() { return model_; }
  const PipelineOptions& options() const { return options_; }
  bool fused() const { return options_.stage == Stage::kFused; }
  // The imported version of a domain; 0 when it is not imported.
  int64_t opset(const std::string& domain) const;

  bool enabled(std::string_view name) const { return !options_.disabled.contains(name); }
  // Every edit starts with this: counts it for `name`; false when the budget is spent, and then
  // the edit must not be made. Throws when the run is cancelled.
  bool take_edit(std::string_view name, const Node& at);
  // Counts work that must be done whatever the budget, and so is no edit.
  void count(std::string_view name, int64_t times) { row(name).applied += times; }
  bool edits_left() const { return options_.max_edits < 0 || edits_done() < options_.max_edits; }
  int64_t edits_done() const { return report_.edits_done; }
  // Counts once for a node, however often it is tried.
  void reject(std::string_view name, std::string_view reason, const Graph& graph, NodeId at);
  void add_time(std::string_view name, int64_t nanoseconds);
  void check_cancelled() const;

  int64_t folded_growth_bytes = 0;  // by which constants outgrew what they were computed from

 private:
  PassReport& row(std::string_view name);

  Model& model_;
  const PipelineOptions& options_;
  PipelineReport& report_;
  std::unordered_map<std::string, size_t> rows_;
  std::set<std::tuple<size_t, const Graph*, NodeId>> rejected_;
};

// One pass. `function` works on one graph; the runner calls it for the model's graph and for every
// subgraph, inner ones first, and sorts afterwards.
struct Pass {
  const char* name;
  void (*function)(Graph& graph, PassContext& context);
  OptimizationLevel level;  // the least level at which it runs
  bool per_graph = true;    // false: called once, for the model's graph
};

// Passes that run in order; repeated until a round makes no edit, at most max_rounds times.
struct Phase {
  std::vector<Pass> passes;
  int max_rounds = 1;
};

// The order of passes of a stage: see pipeline.cc.
std::vector<Phase> pipeline_of(Stage stage);

// Runs the passes of the options' stage over a resolved model (kImported: as read). Throws Error;
// the model is then in an unspecified but destructible state.
PipelineReport run_pipeline(Model& model, const PipelineOptions& options = {});
// The same with other passes: for tests.
PipelineReport run_phases(Model& model, const std::vector<Phase>& phases,
                          const PipelineOptions& options = {});

// Names of all passes and rules of the canonical and the fused stage: what `disabled` may hold.
std::vector<std::string> pass_names();

}  // namespace sardonyx
