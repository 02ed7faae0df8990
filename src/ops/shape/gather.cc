#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shape/strided_copy.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "data: T, indices: Tind -> output: T | axis: int = 0 | T: @all1, Tind: int32 int64"},
    {11, "data: T, indices: Tind -> output: T | axis: int = 0 | T: @all1, Tind: int32 int64"},
    {13, "data: T, indices: Tind -> output: T | axis: int = 0 | T: @all13, Tind: int32 int64"},
};

// The elements of a tracked vector that known indices take.
void track(InferContext& context) {
  const SymShape& data = context.input_shape(0);
  const SymShape& at = context.input_shape(1);
  const std::optional<Dims> ints = context.input_ints(0);
  const auto indices = context.input_known_ints(1);
  if (!data || data->size() != 1 || !at || !ints || !indices) return;
  const auto size = static_cast<int64_t>(ints->size());
  Dims taken;
  for (int64_t index : *indices) {
    if (index < -size || index >= size) {
      context.fail(fmt::format("index {} lies outside [{}, {}]", index, -size, size - 1));
    }
    taken.push_back((*ints)[static_cast<size_t>(index < 0 ? index + size : index)]);
  }
  context.set_output_ints(0, std::move(taken));
}

void infer(InferContext& context) {
  const DataType element = context.input_element(0);
  const SymShape& data = context.input_shape(0);
  const SymShape& indices = context.input_shape(1);
  if (!data) return context.set_output(0, element, std::nullopt);
  if (data->empty()) context.fail("the data must have at least one axis");
  const auto axis = static_cast<size_t>(
      context.normalize_axis(context.node().attributes.get_int("axis", 0), data->size()));
  if (!indices) return context.set_output(0, element, std::nullopt);
  track(context);
  Dims output(data->begin(), data->begin() + axis);
  for (const Dim& dim : *indices) output.push_back(dim);
  for (size_t i = axis + 1; i < data->size(); ++i) output.push_back((*data)[i]);
  context.set_output(0, element, std::move(output));
}

struct GatherPlan {
  int64_t outer = 1;
  int64_t axis = 1;   // size of the axis
  int64_t count = 1;  // of indices
  int64_t inner = 1;
};

template <typename Width, typename Index>
Status gather(const RunContext& context, const GatherPlan& plan) {
  const auto* data = context.in<Width>(0);
  const Index* indices = context.in<Index>(1);
  auto* out = context.out<Width>(0);
  const Range part = context.part(plan.outer * plan.count);
  for (int64_t row = part.begin; row < part.end; ++row) {
    const int64_t given = indices[row % plan.count];
    const int64_t index = given < 0 ? given + plan.axis : given;
    if (index < 0 || index >= plan.axis) {
      return Status(
          ErrorCode::kInvalidArgument,
          fmt::format("Gather: index {} lies outside [{}, {}]", given, -plan.axis, plan.axis - 1));
    }
    const Width* from = data + (row / plan.count * plan.axis + index) * plan.inner;
    if (plan.inner == 1) {
      out[row] = *from;
    } else {
      std::copy_n(from, plan.inner, out + row * plan.inner);
    }
  }
  return Status::ok();
}

class GatherKernel final : public Kernel {
 public:
  explicit GatherKernel(int64_t axis) : axis_(axis) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& data = context.input_shape(0);
    const auto axis =
        static_cast<size_t>(axis_ < 0 ? axis_ + static_cast<int64_t>(data.size()) : axis_);
    auto state = std::make_shared<GatherPlan>();
    state->outer = element_count(data, 0, axis);
    state->axis = data[axis];
    state->count = element_count(context.input_shape(1));
    state->inner = element_count(data, axis + 1, data.size());
    plan.split(state->outer * state->count, 3.0 + copy_nanoseconds(context.input_type(0)) /
                                                      static_cast<double>(kCopyUnit) *
                                                      static_cast<double>(state->inner));
    plan.state = std::move(state);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const auto& plan = context.state_as<GatherPlan>();
    Status status;
    visit_width(context.input(0).type, [&]<typename Width>(TypeTag<Width>) {
      status = context.input(1).type == DataType::kInt32 ? gather<Width, int32_t>(context, plan)
                                                         : gather<Width, int64_t>(context, plan);
    });
    return status;
  }

 private:
  int64_t axis_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<GatherKernel>(context.node.attributes.get_int("axis", 0));
}

}  // namespace

extern const OpDef kGather = {
    .domain = "",
    .name = "Gather",
    .versions = kVersions,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
