// SequenceAt and SequenceLength: what a sequence holds, and how much.
#include "ops/op.h"
#include "ops/sequence/sequence.h"

namespace sardonyx {
namespace {

constexpr OpVersion kAtVersions[] = {
    {11, "input_sequence: S, position: I -> tensor: T | | S: @seq1, T: @all1, I: int32 int64"},
};
constexpr OpVersion kLengthVersions[] = {
    {11, "input_sequence: S -> length: I | | S: @seq1, I: int64"},
};

class AtKernel final : public Kernel {
 public:
  Status run(const RunContext& context) const override {
    const std::span<const Tensor> items = items_of(context.input(0));
    int64_t at = 0;
    SDX_RETURN_IF_FAILED(
        read_position(context.input(1), static_cast<int64_t>(items.size()), false, at));
    return context.give_output(0, items[static_cast<size_t>(at)]);
  }
};

class LengthKernel final : public Kernel {
 public:
  Status run(const RunContext& context) const override {
    const int64_t count = context.input(0).size();
    return context.give_output(0, Tensor::from<int64_t>(DataType::kInt64, {}, {&count, 1}));
  }
};

std::unique_ptr<Kernel> prepare_at(const PrepareContext& context) {
  require_sequence(context);
  return std::make_unique<AtKernel>();
}
std::unique_ptr<Kernel> prepare_length(const PrepareContext& context) {
  require_sequence(context);
  return std::make_unique<LengthKernel>();
}

}  // namespace

extern const OpDef kSequenceAt = {
    .domain = "",
    .name = "SequenceAt",
    .versions = kAtVersions,
    .infer = [](InferContext& context) { context.set_output(0, item_type(context.input_type(0))); },
    .prepare = prepare_at};

extern const OpDef kSequenceLength = {
    .domain = "",
    .name = "SequenceLength",
    .versions = kLengthVersions,
    .infer = [](InferContext& context) { context.set_output(0, DataType::kInt64, Dims{}); },
    .prepare = prepare_length};

}  // namespace sardonyx
