#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shape/axes.h"
#include "ops/shape/strided_copy.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "data: T -> reshaped: T | consumed_inputs: ints?, shape: ints? | T: @ieee"},
    {5, "data: T, shape: int64 -> reshaped: T | | T: @all1"},
    {13, "data: T, shape: int64 -> reshaped: T | | T: @all13"},
    {14, "data: T, shape: int64 -> reshaped: T | allowzero: int = 0 | T: @all13"},
    {19, "data: T, shape: int64 -> reshaped: T | allowzero: int = 0 | T: @all19"},
    {21, "data: T, shape: int64 -> reshaped: T | allowzero: int = 0 | T: @all21"},
    {23, "data: T, shape: int64 -> reshaped: T | allowzero: int = 0 | T: @all23"},
    {24, "data: T, shape: int64 -> reshaped: T | allowzero: int = 0 | T: @all24"},
    {25, "data: T, shape: int64 -> reshaped: T | allowzero: int = 0 | T: @all25"},
};

std::optional<Dims> requested_shape(const InferContext& context) {
  if (context.node().version >= 5) return context.input_ints(1);
  Dims dims;
  for (int64_t dim : context.node().attributes.get_ints("shape")) dims.push_back(Dim(dim));
  return dims;
}

// What is left of the product of `input` after division by the product of `output` (the entry
// `skip` excepted): equal factors cancel, so that symbols need not be known.
Dim remaining_factor(InferContext& context, const Dims& input, const Dims& output, size_t skip) {
  SmallVector<Dim, 6> numerators(input.begin(), input.end());
  Dim denominator(1);
  for (size_t i = 0; i < output.size(); ++i) {
    if (i == skip) continue;
    bool cancelled = false;
    for (Dim& numerator : numerators) {
      // Zero must not cancel: 0 / 0 is not 1.
      if (proven_equal(numerator, output[i]) && !numerator.is(0)) {
        numerator = Dim(1);
        cancelled = true;
        break;
      }
    }
    if (!cancelled) denominator = context.dims().mul(denominator, output[i]);
  }
  Dim numerator(1);
  for (const Dim& factor : numerators) numerator = context.dims().mul(numerator, factor);
  if (denominator.is(0)) {
    context.fail("the entry -1 of the new shape cannot be told: the other entries multiply to 0");
  }
  if (numerator.is_known() && denominator.is_known() && numerator.value % denominator.value != 0) {
    context.fail(fmt::format("the new shape does not divide the number of elements: {} by {}",
                             numerator.value, denominator.value));
  }
  return context.dims().floor_div(numerator, denominator);
}

Dim product(InferContext& context, const Dims& dims) {
  Dim result(1);
  for (const Dim& dim : dims) result = context.dims().mul(result, dim);
  return result;
}

void infer(InferContext& context) {
  pass_ints(context);
  const DataType element = context.input_element(0);
  const std::optional<Dims> requested = requested_shape(context);
  if (!requested) return context.set_output(0, element, std::nullopt);
  const SymShape& input = context.input_shape(0);
  const bool allow_zero = context.node().attributes.get_int("allowzero", 0) != 0;
  Dims output = *requested;
  size_t inferred = output.size();
  bool unknown = false;
  bool zero = false;
  for (size_t i = 0; i < output.size(); ++i) {
    Dim& dim = output[i];
    if (dim.is(-1)) {
      if (inferred != output.size()) context.fail("the new shape has more than one entry -1");
      inferred = i;
    } else if (dim.is_known() && dim.value < -1) {
      context.fail(fmt::format("entry {} of the new shape is {}", i, dim.value));
    } else if (dim.is(0) && !allow_zero) {
      if (input && i >= input->size()) {
        context.fail(fmt::format("entry {} of the new shape is 0 (copy), but the input has rank {}",
                                 i, input->size()));
      }
      dim = input ? (*input)[i] : Dim::unknown();
    }
    zero = zero || ((*requested)[i].is(0) && allow_zero);
    unknown = unknown || dim.is_unknown();
  }
  if (inferred != output.size()) {
    if (zero) context.fail("with allowzero the new shape must not have both 0 and -1");
    output[inferred] = Dim::unknown();
    if (input && !unknown) output[inferred] = remaining_factor(context, *input, output, inferred);
  } else if (input) {
    const Dim before = product(context, *input);
    const Dim after = product(context, output);
    if (before.is_known() && after.is_known() && before.value != after.value) {
      context.fail(fmt::format("the new shape {} has {} elements, the input has {}",
                               print_shape(output, context.dims()), after.value, before.value));
    }
  }
  context.set_output(0, element, std::move(output));
}

std::unique_ptr<Kernel> prepare(const PrepareContext&) { return make_copy_kernel(); }

}  // namespace

extern const OpDef kReshape = {
    .domain = "",
    .name = "Reshape",
    .versions = kVersions,
    .traits = kView,
    .value_inputs = 0b10,
    .in_place = 0b1,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
