// Tile: each axis repeated. Version 1 repeats one axis, given as a number of the input's type.
#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shape/axes.h"
#include "ops/shape/strided_copy.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "input: T, tiles: T, axis: T -> output: T | | T: @ieee, T1: int64"},
    {6, "input: T, repeats: T1 -> output: T | | T: @all1, T1: int64"},
    {13, "input: T, repeats: T1 -> output: T | | T: @all13, T1: int64"},
};

void infer_first(InferContext& context, const Dims& input) {
  const auto tiles = context.input_floats(1);
  const auto axis = context.input_floats(2);
  Dims output = input;
  if (!tiles || !axis || tiles->size() != 1 || axis->size() != 1) {
    output.assign(input.size(), Dim::unknown());
  } else {
    // Numbers far outside of any size would be undefined as integers.
    const double count = (*tiles)[0], which = (*axis)[0];
    if (!(count >= 0 && count < 1e15)) context.fail("tiles is not a count");
    if (!(which >= -64 && which < 64)) context.fail("axis lies outside the input's rank");
    const auto at =
        static_cast<size_t>(context.normalize_axis(static_cast<int64_t>(which), input.size()));
    output[at] = context.dims().mul(input[at], Dim(static_cast<int64_t>(count)));
  }
  context.set_output(0, context.input_element(0), std::move(output));
}

void infer(InferContext& context) {
  const DataType element = context.input_element(0);
  const SymShape& input = context.input_shape(0);
  if (!input) return context.set_output(0, element, std::nullopt);
  if (context.node().version < 6) return infer_first(context, *input);
  const std::optional<Dims> repeats = context.input_ints(1);
  if (!repeats) return context.set_output(0, element, Dims(input->size(), Dim::unknown()));
  if (repeats->size() != input->size()) {
    context.fail(fmt::format("{} repeats for an input of rank {}", repeats->size(), input->size()));
  }
  Dims output;
  for (size_t i = 0; i < input->size(); ++i) {
    const Dim& times = (*repeats)[i];
    if (times.is_known() && times.value < 0) {
      context.fail(fmt::format("axis {} is repeated {} times", i, times.value));
    }
    output.push_back(context.dims().mul((*input)[i], times));
  }
  const std::optional<Dims> ints = context.input_ints(0);
  if (ints && input->size() == 1 && (*repeats)[0].is_known() &&
      ints->size() * static_cast<uint64_t>((*repeats)[0].value) <= kMaxTrackedInts) {
    Dims tiled;
    for (int64_t k = 0; k < (*repeats)[0].value; ++k) {
      for (const Dim& dim : *ints) tiled.push_back(dim);
    }
    context.set_output_ints(0, std::move(tiled));
  }
  context.set_output(0, element, std::move(output));
}

// Output axis i, of size r * d, is two axes for the copy: r with stride 0, d with the input's own.
class TileKernel final : public StridedCopyKernel {
 protected:
  Status plan_copy(const ResolveContext& context, StridedCopy& copy) const override {
    const Shape& input = context.input_shape(0);
    const Shape& output = context.output_shape(0);
    const SmallVector<int64_t, 6> own = row_major_strides(input);
    Shape dims;
    SmallVector<int64_t, 6> strides;
    for (size_t i = 0; i < input.size(); ++i) {
      dims.push_back(input[i] == 0 ? 0 : output[i] / input[i]);
      dims.push_back(input[i]);
      strides.push_back(0);
      strides.push_back(own[i]);
    }
    copy = plan_strided_copy(dims, strides);
    return Status::ok();
  }
};

std::unique_ptr<Kernel> prepare(const PrepareContext&) { return std::make_unique<TileKernel>(); }

}  // namespace

extern const OpDef kTile = {
    .domain = "",
    .name = "Tile",
    .versions = kVersions,
    .traits = kZeroPreserving,
    .value_inputs = 0b110,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
