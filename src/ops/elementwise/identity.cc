#include "ops/control/subgraph.h"
#include "ops/op.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "input: T -> output: T | | T: @all1"},
    {13, "input: T -> output: T | | T: @all13"},
    {14, "input: V -> output: V | | V: @all13 @seq1"},
    {16, "input: V -> output: V | | V: @optional15 @all13 @seq1"},
    {19, "input: V -> output: V | | V: @optional15 @all19 @seq1"},
    {21, "input: V -> output: V | | V: @optional15 @all21 @seq1"},
    {23, "input: V -> output: V | | V: @optional15 @all23 @seq1"},
    {24, "input: V -> output: V | | V: @optional15 @all24 @seq1"},
    {25, "input: V -> output: V | | V: @optional15 @all25 @seq1"},
};

void infer(InferContext& context) {
  context.same_as_input(0);
  if (const auto ints = context.input_ints(0)) context.set_output_ints(0, *ints);
}

class IdentityKernel final : public Kernel {
 public:
  Status run(const RunContext& context) const override {
    const TensorView& in = context.input(0);
    const TensorView& out = context.output(0);
    if (in.data != out.data) copy_contents(in.type, in.data, out.data, in.size());
    return Status::ok();
  }
};

// A sequence or an optional: its elements are shared.
class ValueKernel final : public Kernel {
 public:
  Status run(const RunContext& context) const override {
    return context.give_output(0, keep(context.input_tensor(0)));
  }
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  if (!context.has_input(0)) context.unsupported("one input");
  if (context.input_types[0]->holds_values()) return std::make_unique<ValueKernel>();
  if (!context.input_types[0]->is_tensor()) context.unsupported("tensors, sequences, optionals");
  return std::make_unique<IdentityKernel>();
}

}  // namespace

extern const OpDef kIdentity = {
    .domain = "",
    .name = "Identity",
    .versions = kVersions,
    .traits = kElementwise | kZeroPreserving | kView,
    .in_place = 0b1,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
