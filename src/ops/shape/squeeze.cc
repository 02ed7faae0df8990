// Squeeze, Unsqueeze and Flatten.
#include <fmt/format.h>

#include <algorithm>

#include "ops/op.h"
#include "ops/shape/axes.h"
#include "ops/shape/strided_copy.h"

namespace sardonyx {
namespace {

constexpr OpVersion kSqueezeVersions[] = {
    {1, "data: T -> squeezed: T | axes: ints? | T: @all1"},
    {11, "data: T -> squeezed: T | axes: ints? | T: @all1"},
    {13, "data: T, axes: int64? -> squeezed: T | | T: @all13"},
    {21, "data: T, axes: int64? -> squeezed: T | | T: @all21"},
    {23, "data: T, axes: int64? -> squeezed: T | | T: @all23"},
    {24, "data: T, axes: int64? -> squeezed: T | | T: @all24"},
    {25, "data: T, axes: int64? -> squeezed: T | | T: @all25"},
};
constexpr OpVersion kUnsqueezeVersions[] = {
    {1, "data: T -> expanded: T | axes: ints! | T: @all1"},
    {11, "data: T -> expanded: T | axes: ints! | T: @all1"},
    {13, "data: T, axes: int64 -> expanded: T | | T: @all13"},
    {21, "data: T, axes: int64 -> expanded: T | | T: @all21"},
    {23, "data: T, axes: int64 -> expanded: T | | T: @all23"},
    {24, "data: T, axes: int64 -> expanded: T | | T: @all24"},
    {25, "data: T, axes: int64 -> expanded: T | | T: @all25"},
};
constexpr OpVersion kFlattenVersions[] = {
    {1, "input: T -> output: T | axis: int = 1 | T: @ieee"},
    {9, "input: T -> output: T | axis: int = 1 | T: @all1"},
    {11, "input: T -> output: T | axis: int = 1 | T: @all1"},
    {13, "input: T -> output: T | axis: int = 1 | T: @all13"},
    {21, "input: T -> output: T | axis: int = 1 | T: @all21"},
    {23, "input: T -> output: T | axis: int = 1 | T: @all23"},
    {24, "input: T -> output: T | axis: int = 1 | T: @all24"},
    {25, "input: T -> output: T | axis: int = 1 | T: @all25"},
};

void infer_squeeze(InferContext& context) {
  pass_ints(context);
  const DataType element = context.input_element(0);
  const SymShape& input = context.input_shape(0);
  const AxesArgument axes = axes_argument(context, "axes", 1);
  if (!input) return context.set_output(0, element, std::nullopt);
  if (!axes.known) {
    SymShape output;
    if (axes.count && *axes.count <= input->size()) {
      output = Dims(input->size() - *axes.count, Dim::unknown());
    }
    return context.set_output(0, element, std::move(output));
  }
  Dims output;
  if (!axes.given || axes.values.empty()) {
    for (const Dim& dim : *input) {
      if (!dim.is_known()) return context.set_output(0, element, std::nullopt);
      if (!dim.is(1)) output.push_back(dim);
    }
    return context.set_output(0, element, std::move(output));
  }
  const Axes removed = normalize_axes(context, axes.values, input->size());
  for (size_t i = 0; i < input->size(); ++i) {
    const Dim& dim = (*input)[i];
    if (!std::binary_search(removed.begin(), removed.end(), static_cast<int64_t>(i))) {
      output.push_back(dim);
    } else if (dim.is_known() && !dim.is(1)) {
      context.fail(fmt::format("axis {} cannot be removed: it has size {}", i, dim.value));
    }
  }
  context.set_output(0, element, std::move(output));
}

void infer_unsqueeze(InferContext& context) {
  pass_ints(context);
  const DataType element = context.input_element(0);
  const SymShape& input = context.input_shape(0);
  const AxesArgument axes = axes_argument(context, "axes", 1);
  if (!input || (!axes.known && !axes.count)) return context.set_output(0, element, std::nullopt);
  if (!axes.known) {
    return context.set_output(0, element, Dims(input->size() + *axes.count, Dim::unknown()));
  }
  const size_t rank = input->size() + axes.values.size();
  const Axes added = normalize_axes(context, axes.values, rank);
  Dims output;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    const bool is_new = std::binary_search(added.begin(), added.end(), static_cast<int64_t>(i));
    output.push_back(is_new ? Dim(1) : (*input)[next++]);
  }
  context.set_output(0, element, std::move(output));
}

void infer_flatten(InferContext& context) {
  pass_ints(context);
  const DataType element = context.input_element(0);
  const SymShape& input = context.input_shape(0);
  if (!input) return context.set_output(0, element, Dims(2, Dim::unknown()));
  const auto rank = static_cast<int64_t>(input->size());
  int64_t axis = context.node().attributes.get_int("axis", 1);
  if (axis < -rank || axis > rank) {
    context.fail(fmt::format("axis {} lies outside [{}, {}]", axis, -rank, rank));
  }
  if (axis < 0) axis += rank;
  Dims output(2, Dim(1));
  for (int64_t i = 0; i < rank; ++i) {
    Dim& part = output[i < axis ? 0 : 1];
    part = context.dims().mul(part, (*input)[static_cast<size_t>(i)]);
  }
  context.set_output(0, element, std::move(output));
}

std::unique_ptr<Kernel> prepare(const PrepareContext&) { return make_copy_kernel(); }

}  // namespace

extern const OpDef kSqueeze = {
    .domain = "",
    .name = "Squeeze",
    .versions = kSqueezeVersions,
    .traits = kView,
    .value_inputs = 0b10,
    .in_place = 0b1,
    .infer = infer_squeeze,
    .prepare = prepare,
};
extern const OpDef kUnsqueeze = {
    .domain = "",
    .name = "Unsqueeze",
    .versions = kUnsqueezeVersions,
    .traits = kView,
    .value_inputs = 0b10,
    .in_place = 0b1,
    .infer = infer_unsqueeze,
    .prepare = prepare,
};
extern const OpDef kFlatten = {
    .domain = "",
    .name = "Flatten",
    .versions = kFlattenVersions,
    .traits = kView,
    .in_place = 0b1,
    .infer = infer_flatten,
    .prepare = prepare,
};

}  // namespace sardonyx
