// PlanReport: what a run with given inputs will do and where its memory lies, as plain data. Made
// from the program and signature that the run itself uses; called by the command line's inspection.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sardonyx/session.h"

namespace sardonyx {

struct PlanBuffer {
  enum class Place : uint8_t {
    kArena,     // arena + offset
    kInput,     // the caller's memory
    kOutput,    // the memory of a result
    kConstant,  // a weight
    kKnown,     // follows from the inputs' shapes; computed once
    kDynamic,   // allocated while running: its size depends on values
  };
  std::string name;
  std::string type;  // "float[1,64,56,56]"; the element type alone when the shape is not known
  Place place = Place::kArena;
  int64_t size_bytes = 0;   // 0 for kDynamic
  int64_t offset = -1;      // in the arena
  int32_t first_step = -1;  // position in `steps`; -1: before the run
  int32_t last_step = -1;   // the last step during which its memory is kept
  int32_t alias_of = -1;    // a view of this arena buffer, or written over it
};

struct PlanScratch {
  int32_t step = 0;  // position in `steps`
  int64_t size_bytes = 0;
  int64_t offset = 0;  // in the arena
};

struct PlanReport;

// A subgraph of a control-flow step.
struct SubPlan {
  std::string attribute;             // "then_branch", "body", ...
  std::shared_ptr<PlanReport> plan;  // null: see `reason`
  std::string reason;                // why its shapes are not known before the run
};

struct PlanStep {
  std::string name;                      // in the model; joined by '+' where nodes were fused
  std::string op;                        // "Conv", "ai.sardonyx.BlockedConv"
  std::string kernel;                    // the class that runs it
  bool dynamic = false;                  // shapes are only known while running
  std::vector<int32_t> inputs, outputs;  // into `buffers`; -1: absent
  int64_t read_bytes = 0;                // of all inputs, each once
  int64_t written_bytes = 0;             // of all outputs
  std::vector<int> chunks;               // parallel chunks of each phase
  double estimated_nanoseconds = 0;      // what the split into chunks was chosen by
  std::vector<SubPlan> subplans;
};

struct PlanReport {
  std::string isa;                  // the row of the kernel tables
  std::vector<PlanStep> steps;      // those that run
  int64_t steps_ahead = 0;          // those that follow from shapes alone and do not
  std::vector<PlanBuffer> buffers;  // as in the program; unused ones have no size
  std::vector<PlanScratch> scratch;
  int64_t arena_bytes = 0;
  int64_t lower_bound_bytes = 0;    // the most that is alive at once; no arena can be smaller
  std::vector<int64_t> live_bytes;  // alive in the arena at each step
  int64_t constant_bytes = 0;
  int64_t output_bytes = 0;
  double estimated_nanoseconds = 0;  // on one thread
};

struct BoundProgram;
struct Signature;
enum class Isa : int;

PlanReport make_plan_report(const BoundProgram& bound, const Signature& signature, Isa isa);

// The plan for inputs of these types and shapes. Throws as Session::run does for inputs that do not
// fit.
PlanReport plan_of(const Session& session, std::span<const Value> inputs);

}  // namespace sardonyx
