// Shape and Size.
#include <algorithm>

#include "ops/op.h"

namespace sardonyx {
namespace {

constexpr OpVersion kShapeVersions[] = {
    {1, "data: T -> shape: T1 | | T: @all1, T1: int64"},
    {13, "data: T -> shape: T1 | | T: @all13, T1: int64"},
    {15, "data: T -> shape: T1 | end: int?, start: int = 0 | T: @all13, T1: int64"},
    {19, "data: T -> shape: T1 | end: int?, start: int = 0 | T: @all19, T1: int64"},
    {21, "data: T -> shape: T1 | end: int?, start: int = 0 | T: @all21, T1: int64"},
    {23, "data: T -> shape: T1 | end: int?, start: int = 0 | T: @all23, T1: int64"},
    {24, "data: T -> shape: T1 | end: int?, start: int = 0 | T: @all24, T1: int64"},
    {25, "data: T -> shape: T1 | end: int?, start: int = 0 | T: @all25, T1: int64"},
};
constexpr OpVersion kSizeVersions[] = {
    {1, "data: T -> size: T1 | | T: @all1, T1: int64"},
    {13, "data: T -> size: T1 | | T: @all13, T1: int64"},
    {19, "data: T -> size: T1 | | T: @all19, T1: int64"},
    {21, "data: T -> size: T1 | | T: @all21, T1: int64"},
    {23, "data: T -> size: T1 | | T: @all23, T1: int64"},
    {24, "data: T -> size: T1 | | T: @all24, T1: int64"},
    {25, "data: T -> size: T1 | | T: @all25, T1: int64"},
};

// The axes that Shape reports.
Range reported_axes(const Node& node, size_t rank) {
  const auto limit = static_cast<int64_t>(rank);
  const auto clamp = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + limit : axis, 0, limit);
  };
  const int64_t begin = clamp(node.attributes.get_int("start", 0));
  const int64_t end = clamp(node.attributes.get_int("end", limit));
  return {begin, std::max(begin, end)};
}

void infer_shape(InferContext& context) {
  const SymShape& input = context.input_shape(0);
  if (!input) return context.set_output(0, DataType::kInt64, Dims(1, Dim::unknown()));
  const Range axes = reported_axes(context.node(), input->size());
  Dims dims;
  for (int64_t i = axes.begin; i < axes.end; ++i) dims.push_back((*input)[static_cast<size_t>(i)]);
  context.set_output(0, DataType::kInt64, Dims(1, Dim(axes.end - axes.begin)));
  context.set_output_ints(0, std::move(dims));
}

void infer_size(InferContext& context) {
  Dim size = Dim::unknown();
  if (const SymShape& input = context.input_shape(0)) {
    size = Dim(1);
    for (const Dim& dim : *input) size = context.dims().mul(size, dim);
  }
  context.set_output(0, DataType::kInt64, Dims());
  context.set_output_ints(0, Dims(1, size));
}

class ShapeKernel final : public Kernel {
 public:
  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& input = context.input_shape(0);
    const Range axes = reported_axes(context.node(), input.size());
    plan.state = std::make_shared<Shape>(input.begin() + axes.begin, input.begin() + axes.end);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const auto& shape = context.state_as<Shape>();
    std::copy(shape.begin(), shape.end(), context.out<int64_t>(0));
    return Status::ok();
  }
};

class SizeKernel final : public Kernel {
 public:
  Status run(const RunContext& context) const override {
    *context.out<int64_t>(0) = context.input(0).size();
    return Status::ok();
  }
};

std::unique_ptr<Kernel> prepare_shape(const PrepareContext&) {
  return std::make_unique<ShapeKernel>();
}
std::unique_ptr<Kernel> prepare_size(const PrepareContext&) {
  return std::make_unique<SizeKernel>();
}

}  // namespace

extern const OpDef kShape = {
    .domain = "",
    .name = "Shape",
    .versions = kShapeVersions,
    .traits = kShapeOnly,
    .infer = infer_shape,
    .prepare = prepare_shape,
};
extern const OpDef kSize = {
    .domain = "",
    .name = "Size",
    .versions = kSizeVersions,
    .traits = kShapeOnly,
    .infer = infer_size,
    .prepare = prepare_size,
};

}  // namespace sardonyx
