#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shape/strided_copy.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {8, "input: T, shape: int64 -> output: T | | T: @all1"},
    {13, "input: T, shape: int64 -> output: T | | T: @all13"},
};

void infer(InferContext& context) {
  const DataType element = context.input_element(0);
  const SymShape& input = context.input_shape(0);
  const std::optional<Dims> shape = context.input_ints(1);
  if (!input || !shape) return context.set_output(0, element, std::nullopt);
  const size_t rank = std::max(input->size(), shape->size());
  Dims output(rank, Dim(1));
  for (size_t i = 0; i < rank; ++i) {
    const Dim a = i + input->size() < rank ? Dim(1) : (*input)[i + input->size() - rank];
    const Dim b = i + shape->size() < rank ? Dim(1) : (*shape)[i + shape->size() - rank];
    if (b.is_known() && b.value < 0) {
      context.fail(fmt::format("entry {} of the shape is {}", i, b.value));
    }
    const std::optional<Dim> dim = context.dims().broadcast(a, b);
    if (!dim) {
      context.fail(fmt::format("size {} of the input does not broadcast to {} at axis {}", a.value,
                               b.value, i));
    }
    output[i] = *dim;
  }
  const std::optional<Dims> ints = context.input_ints(0);
  if (const std::optional<Shape> known = to_shape(output); known && ints && ints->size() == 1) {
    const int64_t count = element_count(*known);
    if (count <= int64_t{kMaxTrackedInts}) {
      context.set_output_ints(0, Dims(static_cast<size_t>(count), (*ints)[0]));
    }
  }
  context.set_output(0, element, std::move(output));
}

class ExpandKernel final : public StridedCopyKernel {
 protected:
  Status plan_copy(const ResolveContext& context, StridedCopy& copy) const override {
    const Shape& input = context.input_shape(0);
    const Shape& output = context.output_shape(0);
    const SmallVector<int64_t, 6> own = row_major_strides(input);
    SmallVector<int64_t, 6> strides(output.size(), 0);
    const size_t added = output.size() - input.size();
    for (size_t i = 0; i < input.size(); ++i) strides[added + i] = input[i] == 1 ? 0 : own[i];
    copy = plan_strided_copy(output, strides);
    return Status::ok();
  }
};

std::unique_ptr<Kernel> prepare(const PrepareContext&) { return std::make_unique<ExpandKernel>(); }

}  // namespace

extern const OpDef kExpand = {
    .domain = "",
    .name = "Expand",
    .versions = kVersions,
    .value_inputs = 0b10,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
