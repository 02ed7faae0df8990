// BoundProgram: a Program whose steps have found their operators and kernels. Immutable and shared
// by all Runs. The same bind serves a Program made just now and one read from an artifact.
#pragma once

#include <memory>
#include <vector>

#include "ops/op.h"
#include "plan/program.h"

namespace sardonyx {

struct BoundStep {
  const OpDef* op = nullptr;
  std::unique_ptr<Kernel> kernel;
  std::vector<int32_t> inputs;   // buffer or -1
  std::vector<int32_t> outputs;  // buffer or -1
};

struct BoundProgram {
  Program program;
  std::vector<BoundStep> steps;
  // Per buffer: its contents decide shapes somewhere (directly or through other steps).
  std::vector<bool> value_needed;
  // Per buffer: the last step that reads it; -1 none; steps.size() for program outputs.
  std::vector<int32_t> last_use;
};

// Throws Error(kNotImplemented) for a step without an operator or kernel.
std::shared_ptr<const BoundProgram> bind(Program program, Isa isa);

}  // namespace sardonyx
