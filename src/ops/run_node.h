// run_node: evaluates one bound node on known tensors through the same infer, prepare, resolve and
// run as a session, on the calling thread. Used by constant folding and by the operator case
// runner.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "ops/op.h"

namespace sardonyx {

struct RunNodeOptions {
  Isa isa = best_isa();
  bool constant_inputs = true;                // does `prepare` see the inputs' contents?
  int in_place = -1;                          // output 0 is written over (a copy of) this input
  const std::atomic<bool>* cancel = nullptr;  // ends the evaluation with kFail when it becomes true
};

// One tensor per input and output of the node; undefined: absent. The node's ids only say what is
// absent (ValueId::kNone). Throws Error: kNotImplemented for control flow and values that are not
// tensors, kInvalidGraph and kInvalidArgument as infer does, or what the kernel's Status says.
std::vector<Tensor> run_node(const Node& node, std::span<const Tensor> inputs,
                             const RunNodeOptions& options = {});

// The inferred types that run_node would use; `known` says which inputs' contents infer may see
// (bit i), shapes are always known.
std::vector<InferOutput> infer_on_tensors(const Node& node, std::span<const Tensor> inputs,
                                          uint32_t known, DimTable& dims);

}  // namespace sardonyx
