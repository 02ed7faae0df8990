#include <fmt/format.h>

#include <algorithm>

#include "ops/op.h"
#include "ops/shape/axes.h"
#include "ops/shape/strided_copy.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "data: T -> output: T | axes: ints?, ends: ints!, starts: ints! | T: @all1"},
    {10,
     "data: T, starts: Tind, ends: Tind, axes: Tind?, steps: Tind? -> output: T | | T: @all1, "
     "Tind: int32 int64"},
    {11,
     "data: T, starts: Tind, ends: Tind, axes: Tind?, steps: Tind? -> output: T | | T: @all1, "
     "Tind: int32 int64"},
    {13,
     "data: T, starts: Tind, ends: Tind, axes: Tind?, steps: Tind? -> output: T | | T: @all13, "
     "Tind: int32 int64"},
};

// What is taken of an axis of known size.
struct Taken {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};

Taken clamp_slice(int64_t size, int64_t start, int64_t end, int64_t step) {
  // No sum here overflows: only negative numbers have the size added.
  if (start < 0) start += size;
  if (end < 0) end += size;
  Taken taken;
  taken.step = step;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, size);
    end = std::clamp<int64_t>(end, 0, size);
    if (end > start) taken.count = (end - start - 1) / step + 1;
  } else {
    // The standard takes a start before the axis for its first element; numpy takes nothing.
    start = std::min(std::max<int64_t>(start, 0), size - 1);
    end = std::clamp<int64_t>(end, -1, size - 1);
    // -(step + 1) + 1 would overflow for the smallest step; the quotient is 0 then.
    if (start > end) taken.count = step == INT64_MIN ? 1 : (start - end - 1) / -step + 1;
  }
  taken.start = start;
  return taken;
}

std::optional<Dims> argument(const InferContext& context, const char* name, size_t input) {
  if (context.node().version >= 10) return context.input_ints(input);
  Dims dims;
  for (int64_t value : context.node().attributes.get_ints(name)) dims.push_back(Dim(value));
  return dims;
}

// The size of a slice of an axis that is an expression, or whose bounds are.
Dim slice_size(DimTable& dims, const Dim& size, const Dim& start, const Dim& end, const Dim& step) {
  constexpr int64_t kFar = int64_t{1} << 31;
  if (size.is_unknown() || start.is_unknown() || end.is_unknown() || !step.is_known()) {
    return Dim::unknown();
  }
  if (step.value < 0) {
    // Only the whole axis backwards.
    const bool whole = start.is_known() && end.is_known() &&
                       (start.is(-1) || start.value >= kFar - 1) && end.value <= -kFar + 1;
    return whole && step.value != INT64_MIN ? dims.ceil_div(size, Dim(-step.value))
                                            : Dim::unknown();
  }
  // An expression stands for a size: it counts from the front.
  const auto from_front = [&](const Dim& bound) {
    if (bound.is_known() && bound.value < 0) {
      return bound.value <= -kFar + 1 ? Dim(0) : dims.add(size, bound);
    }
    if (bound.is_known() && bound.value >= kFar - 1) return size;
    return bound.is(0) ? bound : dims.min(bound, size);
  };
  Dim count;
  if (start.is_known() && start.value < 0 && start.value > -kFar && end.is_known() &&
      end.value >= kFar - 1) {
    count = dims.min(size, Dim(-start.value));
  } else {
    count = dims.sub(from_front(end), from_front(start));
  }
  return dims.ceil_div(count, step);
}

void infer(InferContext& context) {
  const DataType element = context.input_element(0);
  const SymShape& input = context.input_shape(0);
  if (!input) return context.set_output(0, element, std::nullopt);
  const std::optional<Dims> starts = argument(context, "starts", 1);
  const std::optional<Dims> ends = argument(context, "ends", 2);
  const AxesArgument axes = axes_argument(context, "axes", 3);
  std::optional<Dims> steps;
  if (context.has_input(4)) steps = context.input_ints(4);
  if (!starts || !ends || !axes.known || (context.has_input(4) && !steps)) {
    return context.set_output(0, element, Dims(input->size(), Dim::unknown()));
  }
  const size_t count = starts->size();
  if (ends->size() != count || (axes.given && axes.values.size() != count) ||
      (steps && steps->size() != count)) {
    context.fail(fmt::format("starts, ends, axes and steps differ in length ({}, {}, {}, {})",
                             count, ends->size(), axes.given ? axes.values.size() : count,
                             steps ? steps->size() : count));
  }
  std::optional<Dims> ints = context.input_ints(0);
  Dims output = *input;
  for (size_t i = 0; i < count; ++i) {
    const auto axis = static_cast<size_t>(context.normalize_axis(
        axes.given ? axes.values[i] : static_cast<int64_t>(i), input->size()));
    const Dim step = steps ? (*steps)[i] : Dim(1);
    if (step.is(0)) context.fail(fmt::format("step {} is 0", i));
    const Dim& size = (*input)[axis];
    const Dim& start = (*starts)[i];
    const Dim& end = (*ends)[i];
    if (!size.is_known() || !start.is_known() || !end.is_known() || !step.is_known()) {
      output[axis] = slice_size(context.dims(), size, start, end, step);
      ints.reset();
      continue;
    }
    const Taken taken = clamp_slice(size.value, start.value, end.value, step.value);
    output[axis] = Dim(taken.count);
    if (!ints || input->size() != 1) continue;
    Dims kept;
    for (int64_t k = 0; k < taken.count; ++k) {
      kept.push_back((*ints)[static_cast<size_t>(taken.start + k * taken.step)]);
    }
    ints = std::move(kept);
  }
  if (ints && input->size() == 1) context.set_output_ints(0, std::move(*ints));
  context.set_output(0, element, std::move(output));
}

Axes values_of(const TensorView& view) {
  return integer_values(Tensor::view(view.type, view.shape, view.data));
}

class SliceKernel final : public StridedCopyKernel {
 public:
  explicit SliceKernel(const Node& node) : from_attributes_(node.version < 10) {}

 protected:
  Status plan_copy(const ResolveContext& context, StridedCopy& copy) const override {
    const Shape& input = context.input_shape(0);
    const Axes starts = list(context, "starts", 1);
    const Axes ends = list(context, "ends", 2);
    const Axes axes = list(context, "axes", 3);
    const Axes steps = list(context, "steps", 4);
    SmallVector<int64_t, 6> strides = row_major_strides(input);
    int64_t offset = 0;
    for (size_t i = 0; i < starts.size(); ++i) {
      int64_t axis = axes.empty() ? static_cast<int64_t>(i) : axes[i];
      if (axis < 0) axis += static_cast<int64_t>(input.size());
      const auto at = static_cast<size_t>(axis);
      const Taken taken = clamp_slice(input[at], starts[i], ends[i], steps.empty() ? 1 : steps[i]);
      // Strides of axes of one element are never used and may be huge.
      offset += taken.count > 0 ? taken.start * strides[at] : 0;
      strides[at] = taken.count > 1 ? strides[at] * taken.step : 0;
    }
    copy = plan_strided_copy(context.output_shape(0), strides, offset);
    return Status::ok();
  }

 private:
  Axes list(const ResolveContext& context, const char* name, size_t input) const {
    if (!from_attributes_) {
      return context.has_input(input) ? values_of(context.input_values(input)) : Axes();
    }
    const std::vector<int64_t> values = context.node().attributes.get_ints(name);
    return Axes(values.begin(), values.end());
  }
  bool from_attributes_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<SliceKernel>(context.node);
}

}  // namespace

extern const OpDef kSlice = {
    .domain = "",
    .name = "Slice",
    .versions = kVersions,
    .traits = kZeroPreserving,
    .value_inputs = 0b11110,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
