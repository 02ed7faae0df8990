// One step by itself: its output shapes from concrete inputs, its run on the calling thread, and
// whether a value is what the model says.
// Used when a signature is resolved and by steps whose shapes are only known while running.
#pragma once

#include <span>
#include <vector>

#include "ops/op.h"
#include "plan/program.h"

namespace sardonyx {

// Stands for an input or output that a step does without; nobody writes to it.
TensorView& absent_view();

// Memory of infer_step, reused from step to step: a new signature infers every step of a program.
struct InferScratch {
  std::vector<ValueType> types;
  std::vector<Tensor> contents;  // views, which own nothing
  std::vector<InferInput> inputs;
  std::vector<InferOutput> outputs;
};

// Infers one step with concrete inputs: fills the outputs' views (type, shape). Returns false when
// some output shape is still unknown. `views` are the step's; `known[i]`: input i's contents may be
// read.
bool infer_step(const Node& node, const OpDef& op, std::span<const TensorView* const> inputs,
                const std::vector<bool>& known, std::span<TensorView* const> outputs,
                InferScratch& scratch);

// Has the tensor the kind and element type that `type` says? A type that is not known takes any
// tensor, but no sequence and no optional.
bool is_of_type(const Tensor& tensor, const ValueType& type);

// The types of one step's outputs when only `types` of its inputs are known (default: absent), and
// the contents of those that are not null in `constants`. Dimensions are known or unknown.
std::vector<ValueType> infer_types(const Node& node, const OpDef& op,
                                   std::span<const ValueType> types,
                                   std::span<const Tensor* const> constants);

// The same type where dimensions that are not known numbers are unknown.
ValueType without_symbols(ValueType type);

// Kernels are prepared for the types that the program gives its buffers. Throws
// Error(kInvalidGraph) when inference says otherwise for one of a step's outputs (-1: absent).
void check_output_types(const Program& program, std::span<const int32_t> outputs,
                        std::span<TensorView* const> views);

// Runs a prepared kernel on the calling thread into fresh tensors of the outputs' types and shapes;
// undefined where an output is absent. Throws Error.
std::vector<Tensor> run_serially(const Node& node, const Kernel& kernel,
                                 std::span<const TensorView* const> inputs,
                                 std::span<TensorView* const> outputs);

// Does a step with these outputs have nothing to compute: some, and all without elements? Absent
// ones do not count. Such a step is not run, nor are its kernel's tables made.
bool are_all_empty(std::span<TensorView* const> outputs);

}  // namespace sardonyx
