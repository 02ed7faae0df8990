// ReverseSequence: the first `sequence_lens` steps of each batch entry backwards, the others as
// they are. Time and batch are the first two axes, in either order.
#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shape/strided_copy.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {10,
     "input: T, sequence_lens: int64 -> Y: T | batch_axis: int = 1, time_axis: int = 0 | T: @all1"},
    {28,
     "input: T, sequence_lens: int64 -> Y: T | batch_axis: int = 1, time_axis: int = 0 | T: "
     "@all13"},
};

void infer(InferContext& context) {
  const int64_t batch_axis = context.node().attributes.get_int("batch_axis", 1);
  const int64_t time_axis = context.node().attributes.get_int("time_axis", 0);
  if (batch_axis + time_axis != 1 || batch_axis * time_axis != 0) {
    context.fail("attributes 'batch_axis' and 'time_axis' must be 0 and 1, or 1 and 0");
  }
  const SymShape& x = context.input_shape(0);
  const SymShape& lengths = context.input_shape(1);
  if (x && x->size() < 2) context.fail("the input must have at least two axes");
  if (x && lengths) {
    const Dim& batch = (*x)[static_cast<size_t>(batch_axis)];
    const bool fits = lengths->size() == 1 &&
                      (!(*lengths)[0].is_known() || !batch.is_known() || (*lengths)[0] == batch);
    if (!fits) context.fail("sequence_lens must have one number for each batch entry");
  }
  context.same_as_input(0);
}

class ReverseSequenceKernel final : public Kernel {
 public:
  explicit ReverseSequenceKernel(bool time_first) : time_first_(time_first) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& shape = context.input_shape(0);
    const double block = static_cast<double>(element_count(shape, 2, shape.size()));
    plan.split(shape[0] * shape[1], 3.0 + block * copy_nanoseconds(context.input_type(0)) /
                                              static_cast<double>(kCopyUnit));
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const TensorView& in = context.input(0);
    const int64_t block = element_count(in.shape, 2, in.shape.size());
    const int64_t steps = in.shape[time_first_ ? 0 : 1];
    const Range part = context.part(in.shape[0] * in.shape[1]);
    for (int64_t at = part.begin; at < part.end; ++at) {
      const int64_t first = at / in.shape[1], second = at % in.shape[1];
      const int64_t step = time_first_ ? first : second;
      const int64_t length = context.in<int64_t>(1)[time_first_ ? second : first];
      if (length < 0 || length > steps) {
        return Status(
            ErrorCode::kInvalidArgument,
            fmt::format("ReverseSequence: length {} lies outside [0, {}]", length, steps));
      }
      const int64_t source = step < length ? length - 1 - step : step;
      const int64_t from =
          time_first_ ? source * in.shape[1] + second : first * in.shape[1] + source;
      copy_elements(in.type, in.data, from * block, context.output(0).data, at * block, block);
    }
    return Status::ok();
  }

 private:
  bool time_first_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<ReverseSequenceKernel>(context.node.attributes.get_int("time_axis", 0) ==
                                                 0);
}

}  // namespace

extern const OpDef kReverseSequence = {
    .domain = "",
    .name = "ReverseSequence",
    .versions = kVersions,
    .traits = kZeroPreserving,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
