// BoundProgram: a Program whose steps have found their operators and kernels. Immutable and shared
// by all Runs. The same bind serves a Program made just now and one read from an artifact.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "ops/op.h"
#include "plan/program.h"

namespace sardonyx {

struct BoundStep {
  const OpDef* op = nullptr;
  std::shared_ptr<const Kernel> kernel;
  // Control flow, or an input or output is a sequence or optional: the kernel gives its outputs,
  // whole tensors, and is run without infer and resolve.
  bool gives_outputs = false;
  std::vector<int32_t> inputs;   // buffer or -1; what subgraphs capture comes last
  std::vector<int32_t> outputs;  // buffer or -1
  // Of an If: into BoundProgram::branches, [0] when the condition is false, [1] when it is true.
  std::array<int32_t, 2> branches = {-1, -1};
};

struct BoundProgram;

// A subgraph of a control-flow step; see SubProgram.
struct BoundSubProgram {
  int32_t step = 0;
  std::string attribute;
  std::vector<int32_t> captures;             // buffers of the outer program
  std::shared_ptr<const BoundProgram> body;  // null for a spliced branch; see body_of()
  int32_t branch = -1;                       // into BoundProgram::branches, when spliced
};

// A branch of an If whose steps are part of the program (see exec/splice.h). They count only under
// a signature that knows the condition and it is `when`.
struct BoundBranch {
  int32_t first = 0, end = 0;                // its steps
  int32_t step = 0;                          // the If
  bool when = false;                         // the condition that takes it
  int32_t first_buffer = 0, end_buffer = 0;  // its own; others are what it captures
  std::vector<int32_t> outputs;              // one buffer per output of the If
};

struct BoundProgram {
  Program program;
  std::vector<BoundStep> steps;
  std::vector<BoundSubProgram> subprograms;
  std::vector<BoundBranch> branches;  // by first step, outer before inner
  // Per buffer: its contents decide shapes somewhere (directly or through other steps).
  std::vector<bool> value_needed;
  // Per buffer: its contents decide the condition of an If.
  std::vector<bool> condition_needed;
  // Per buffer: the last step that reads it; -1 none; steps.size() for program outputs.
  std::vector<int32_t> last_use;
};

// Sets value_needed, condition_needed and last_use from the steps.
void find_uses(BoundProgram& bound);

// node: of the program. Throws Error(kNotImplemented) when it has no operator or kernel.
BoundStep bind_step(const Program& program, const Node& node, Isa isa);

// Throws as bind_step() does.
std::shared_ptr<const BoundProgram> bind(Program program, Isa isa);

}  // namespace sardonyx
