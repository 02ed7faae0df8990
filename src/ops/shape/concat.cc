#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shape/segments.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "inputs: T... -> concat_result: T | axis: int? | T: @ieee"},
    {4, "inputs: T... -> concat_result: T | axis: int! | T: @all1"},
    {11, "inputs: T... -> concat_result: T | axis: int! | T: @all1"},
    {13, "inputs: T... -> concat_result: T | axis: int! | T: @all13"},
};

// The axis of version 1 has a default.
int64_t axis_of(const Node& node) { return node.attributes.get_int("axis", 1); }

void track(InferContext& context) {
  Dims all;
  for (size_t i = 0; i < context.input_count(); ++i) {
    const std::optional<Dims> ints = context.input_ints(i);
    if (!ints) return;
    for (const Dim& dim : *ints) all.push_back(dim);
  }
  context.set_output_ints(0, std::move(all));
}

void infer(InferContext& context) {
  const DataType element = context.input_element(0);
  std::optional<size_t> rank;
  for (size_t i = 0; i < context.input_count(); ++i) {
    const SymShape& shape = context.input_shape(i);
    if (!shape) continue;
    if (rank && *rank != shape->size()) {
      context.fail(fmt::format("input {} has rank {}, an earlier one {}", i, shape->size(), *rank));
    }
    rank = shape->size();
  }
  if (!rank) return context.set_output(0, element, std::nullopt);
  if (*rank == 0) context.fail("scalars have no axis to concatenate along");
  const auto axis = static_cast<size_t>(context.normalize_axis(axis_of(context.node()), *rank));
  Dims output(*rank, Dim::unknown());
  output[axis] = Dim(0);
  for (size_t i = 0; i < context.input_count(); ++i) {
    const SymShape& shape = context.input_shape(i);
    for (size_t d = 0; d < *rank; ++d) {
      const Dim dim = shape ? (*shape)[d] : Dim::unknown();
      if (d == axis) {
        output[d] = context.dims().add(output[d], dim);
      } else if (output[d].is_known() && dim.is_known() && output[d].value != dim.value) {
        context.fail(fmt::format("input {} has size {} along axis {}, an earlier one {}", i,
                                 dim.value, d, output[d].value));
      } else if (!output[d].is_known() && (dim.is_known() || output[d].is_unknown())) {
        output[d] = dim;
      }
    }
  }
  if (*rank == 1) track(context);
  context.set_output(0, element, std::move(output));
}

class ConcatKernel final : public Kernel {
 public:
  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& output = context.output_shape(0);
    int64_t axis = axis_of(context.node());
    if (axis < 0) axis += static_cast<int64_t>(output.size());
    SmallVector<int64_t, 8> widths;
    SmallVector<size_t, 8> operands;
    for (size_t i = 0; i < context.input_count(); ++i) {
      widths.push_back(context.input_shape(i)[static_cast<size_t>(axis)]);
      operands.push_back(i);
    }
    plan.split(copy_units(element_count(output)), copy_nanoseconds(context.input_type(0)));
    plan.state = std::make_shared<Segments>(
        plan_segments(output, static_cast<size_t>(axis), widths, operands));
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const auto& segments = context.state_as<Segments>();
    const TensorView& out = context.output(0);
    segments.run(copy_part(context, segments.rows * segments.row),
                 [&](size_t input, int64_t from, int64_t to, int64_t n) {
                   copy_elements(out.type, context.input(input).data, from, out.data, to, n);
                 });
    return Status::ok();
  }
};

std::unique_ptr<Kernel> prepare(const PrepareContext&) { return std::make_unique<ConcatKernel>(); }

}  // namespace

extern const OpDef kConcat = {
    .domain = "",
    .name = "Concat",
    .versions = kVersions,
    .traits = kZeroPreserving,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
