// Signature: a BoundProgram resolved for one set of input shapes (and for the values of small
// integer inputs that decide shapes). Holds every shape, where every buffer lies, how each step is
// split, and the contents of buffers that follow from shapes alone, whose steps are then skipped.
// Immutable; shared by the Runs that have these inputs.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "exec/bound_program.h"
#include "plan/arena.h"

namespace sardonyx {

// Integer and bool inputs of at most this many elements become part of the signature when they
// decide shapes or the conditions of Ifs.
inline constexpr int64_t kMaxKeyElements = 8;

using SignatureKey = std::vector<int64_t>;

// conditions: the values of inputs that only decide conditions of Ifs take part, too. Without them
// such an If is dynamic.
SignatureKey make_key(const BoundProgram& bound, std::span<const Tensor> inputs, bool conditions);

// Where a buffer lies during a Run.
struct Place {
  enum class Kind : uint8_t {
    kUnused,   // no memory: nobody reads it
    kFixed,    // constant or known: `address`
    kInput,    // the caller's input `index`
    kOutput,   // output buffer `index`
    kArena,    // arena + `offset`
    kDynamic,  // allocated while running
  };
  Kind kind = Kind::kUnused;
  int32_t index = 0;
  int64_t offset = 0;
  const void* address = nullptr;
};

struct ResolvedStep {
  int32_t step = 0;      // into BoundProgram::steps
  bool dynamic = false;  // shapes are only known while running
  // An If that took this branch of BoundProgram::branches, some of whose results are kDynamic: they
  // become the If's; or -1.
  int32_t branch = -1;
  StepPlan plan;
  int64_t scratch_offset = 0;        // in the arena
  int64_t chunk_scratch_offset = 0;  // in the arena
};

// An output whose memory is not written by a step: it repeats another one, or is an input, a
// constant or known value.
struct OutputCopy {
  int32_t output;
  int32_t buffer;
};

struct Signature {
  SignatureKey key;
  SignatureKey key_without_conditions;
  std::vector<TensorView> views;  // per buffer; data is set for kFixed only
  std::vector<Place> places;      // per buffer
  std::vector<Tensor> known;      // keeps known contents alive
  std::vector<ResolvedStep> steps;
  std::vector<OutputCopy> copies;
  ArenaLayout arena;
  double estimated_nanoseconds = 0;
};

// What a step costs on one thread, as the split into chunks tells: whole chunks, and a small
// constant for a step that is not split.
double estimated_nanoseconds(const StepPlan& plan);

// Throws Error(kInvalidGraph / kInvalidArgument) when the shapes do not fit the model.
std::shared_ptr<const Signature> resolve_signature(const BoundProgram& bound,
                                                   std::span<const Tensor> inputs,
                                                   bool conditions = true);

}  // namespace sardonyx
