#include <fmt/format.h>

#include <algorithm>

#include "ops/op.h"
#include "ops/shape/axes.h"
#include "ops/shape/segments.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "input: T, split: T? -> outputs...: T... | axis: int?, split: ints? | T: @ieee"},
    {2, "input: T -> outputs: T... | axis: int = 0, split: ints? | T: @all1"},
    {11, "input: T -> outputs: T... | axis: int = 0, split: ints? | T: @all1"},
    {13, "input: T, split: int64? -> outputs: T... | axis: int = 0 | T: @all13"},
    {18, "input: T, split: int64? -> outputs: T... | axis: int = 0, num_outputs: int? | T: @all13"},
};

// Version 1 takes the sizes as a tensor of the input's own floating type.
AxesArgument sizes_argument(const InferContext& context) {
  if (context.node().version >= 2 || !context.has_input(1)) {
    return axes_argument(context, "split", 1);
  }
  AxesArgument sizes;
  sizes.given = true;
  const auto values = context.input_floats(1);
  sizes.known = values.has_value();
  if (values) {
    for (double value : *values) sizes.values.push_back(static_cast<int64_t>(value));
  }
  return sizes;
}

// Sizes along the axis, one per output.
Dims part_sizes(InferContext& context, const Dim& whole) {
  const size_t count = context.output_count();
  const AxesArgument sizes = sizes_argument(context);
  Dims parts(count, Dim::unknown());
  if (!sizes.known) return parts;
  if (sizes.given && !sizes.values.empty()) {
    if (sizes.values.size() < count) {
      context.fail(fmt::format("'split' has {} sizes for {} outputs", sizes.values.size(), count));
    }
    int64_t sum = 0;
    for (size_t i = 0; i < sizes.values.size(); ++i) {
      const int64_t size = sizes.values[i];
      if (size < 0 || __builtin_add_overflow(sum, size, &sum)) {
        context.fail(fmt::format("size {} of 'split' is {}", i, size));
      }
      if (i < count) parts[i] = Dim(size);
    }
    if (whole.is_known() && whole.value != sum) {
      context.fail(
          fmt::format("the sizes in 'split' add up to {}, the axis has {}", sum, whole.value));
    }
    return parts;
  }
  const auto outputs = static_cast<int64_t>(count);
  const int64_t pieces = context.node().attributes.get_int("num_outputs", outputs);
  if (pieces != outputs) {
    context.fail(fmt::format("'num_outputs' is {}, the node has {} outputs; they must be equal",
                             pieces, outputs));
  }
  DimTable& dims = context.dims();
  if (context.node().version >= 18) {
    const Dim size = dims.ceil_div(whole, Dim(pieces));
    for (size_t i = 0; i < count; ++i) parts[i] = size;
    parts[count - 1] = dims.sub(whole, dims.mul(size, Dim(pieces - 1)));
    if (whole.is_known()) {
      // Pieces at the end may be short or empty.
      for (size_t i = 0; i < count; ++i) {
        const int64_t left = whole.value - static_cast<int64_t>(i) * size.value;
        parts[i] = Dim(std::clamp<int64_t>(left, 0, size.value));
      }
    }
    return parts;
  }
  if (whole.is_known() && whole.value % pieces != 0) {
    context.fail(
        fmt::format("an axis of {} cannot be split into {} equal parts", whole.value, pieces));
  }
  for (Dim& part : parts) part = dims.floor_div(whole, Dim(pieces));
  return parts;
}

void infer(InferContext& context) {
  const DataType element = context.input_element(0);
  const SymShape& input = context.input_shape(0);
  for (size_t i = 0; i < context.output_count(); ++i) {
    context.set_output(i, element, std::nullopt);
  }
  if (!input) return;
  const auto axis = static_cast<size_t>(
      context.normalize_axis(context.node().attributes.get_int("axis", 0), input->size()));
  const Dims parts = part_sizes(context, (*input)[axis]);
  const std::optional<Dims> ints = context.input_ints(0);
  size_t at = 0;
  bool track = ints && input->size() == 1;
  for (size_t i = 0; i < parts.size(); ++i) {
    Dims output = *input;
    output[axis] = parts[i];
    track = track && parts[i].is_known();
    if (track) {
      const size_t end = at + static_cast<size_t>(parts[i].value);
      track = end <= ints->size();
      if (track) context.set_output_ints(i, Dims(ints->begin() + at, ints->begin() + end));
      at = end;
    }
    context.set_output(i, element, std::move(output));
  }
}

// The size of part `i`, whose output nobody wants; infer has checked the sizes.
int64_t unwanted_size(const ResolveContext& context, size_t i, int64_t whole) {
  const Node& node = context.node();
  if (context.has_input(1)) {
    const TensorView& sizes = context.input_values(1);
    const Tensor tensor = Tensor::view(sizes.type, sizes.shape, sizes.data);
    return sizes.type == DataType::kInt64 ? integer_values(tensor)[i]
                                          : static_cast<int64_t>(tensor.data<float>()[i]);
  }
  const std::vector<int64_t> sizes = node.attributes.get_ints("split");
  if (!sizes.empty()) return sizes[i];
  const auto pieces = static_cast<int64_t>(context.output_count());
  const int64_t size = (whole + pieces - 1) / pieces;
  return std::clamp<int64_t>(whole - static_cast<int64_t>(i) * size, 0, size);
}

class SplitKernel final : public Kernel {
 public:
  explicit SplitKernel(const Node& node) : axis_(node.attributes.get_int("axis", 0)) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    constexpr size_t kNobody = SIZE_MAX;
    const Shape& input = context.input_shape(0);
    const auto axis =
        static_cast<size_t>(axis_ < 0 ? axis_ + static_cast<int64_t>(input.size()) : axis_);
    SmallVector<int64_t, 8> widths;
    SmallVector<size_t, 8> operands;
    int64_t left = input[axis];
    for (size_t i = 0; i < context.output_count(); ++i) {
      const bool wanted = context.has_output(i);
      widths.push_back(wanted ? context.output_shape(i)[axis]
                              : unwanted_size(context, i, input[axis]));
      operands.push_back(wanted ? i : kNobody);
      left -= widths.back();
    }
    if (left > 0) {
      widths.push_back(left);
      operands.push_back(kNobody);
    }
    plan.split(copy_units(element_count(input)), copy_nanoseconds(context.input_type(0)));
    plan.state = std::make_shared<Segments>(plan_segments(input, axis, widths, operands));
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const auto& segments = context.state_as<Segments>();
    const TensorView& in = context.input(0);
    segments.run(copy_part(context, segments.rows * segments.row),
                 [&](size_t output, int64_t to, int64_t from, int64_t n) {
                   if (output == SIZE_MAX) return;
                   copy_elements(in.type, in.data, from, context.output(output).data, to, n);
                 });
    return Status::ok();
  }

 private:
  int64_t axis_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<SplitKernel>(context.node);
}

}  // namespace

extern const OpDef kSplit = {
    .domain = "",
    .name = "Split",
    .versions = kVersions,
    .traits = kZeroPreserving,
    .value_inputs = 0b10,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
