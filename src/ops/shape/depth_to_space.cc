// DepthToSpace and SpaceToDepth: blocks of b x b positions become channels or come from them. In
// mode DCR a channel is (row, column, depth), in mode CRD (depth, row, column).
#include <fmt/format.h>

#include <limits>

#include "ops/op.h"
#include "ops/shape/strided_copy.h"

namespace sardonyx {
namespace {

constexpr OpVersion kDepthVersions[] = {
    {1, "input: T -> output: T | blocksize: int! | T: @all1"},
    {11, "input: T -> output: T | blocksize: int!, mode: string = 'DCR' | T: @all1"},
    {13, "input: T -> output: T | blocksize: int!, mode: string = 'DCR' | T: @all13"},
    {28, "input: T -> output: T | blocksize: int!, mode: string = 'DCR' | T: @all13"},
};
constexpr OpVersion kSpaceVersions[] = {
    {1, "input: T -> output: T | blocksize: int! | T: @all1"},
    {13, "input: T -> output: T | blocksize: int! | T: @all13"},
    {28, "input: T -> output: T | blocksize: int!, mode: string = 'DCR' | T: @all13"},
};

int64_t block_of(const Node& node) { return node.attributes.get_int("blocksize", 0); }
bool is_crd(const Node& node) { return node.attributes.get_string("mode", "DCR") == "CRD"; }

// The input's shape when it is known, after the attributes were checked.
SymShape checked_input(InferContext& context) {
  const int64_t block = block_of(context.node());
  constexpr int64_t kMaxBlock = std::numeric_limits<int32_t>::max();  // its square fits
  if (block < 1 || block > kMaxBlock) {
    context.fail(fmt::format("attribute 'blocksize' is {}", block));
  }
  const std::string mode = context.node().attributes.get_string("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") context.fail("attribute 'mode' is '" + mode + "'");
  const SymShape& x = context.input_shape(0);
  if (x && x->size() != 4) context.fail("the input must have four axes");
  return x;
}

Dim divided(InferContext& context, const Dim& size, int64_t by, const char* what) {
  if (size.is_known() && size.value % by != 0) {
    context.fail(fmt::format("{} {} do not divide by {}", size.value, what, by));
  }
  return context.dims().floor_div(size, Dim(by));
}

void infer_depth_to_space(InferContext& context) {
  SymShape shape = checked_input(context);
  if (shape) {
    const int64_t b = block_of(context.node());
    Dims& x = *shape;
    x = Dims{x[0], divided(context, x[1], b * b, "channels"), context.dims().mul(x[2], Dim(b)),
             context.dims().mul(x[3], Dim(b))};
  }
  context.set_output(0, context.input_element(0), std::move(shape));
}

void infer_space_to_depth(InferContext& context) {
  SymShape shape = checked_input(context);
  if (shape) {
    const int64_t b = block_of(context.node());
    Dims& x = *shape;
    x = Dims{x[0], context.dims().mul(x[1], Dim(b * b)), divided(context, x[2], b, "rows"),
             divided(context, x[3], b, "columns")};
  }
  context.set_output(0, context.input_element(0), std::move(shape));
}

class DepthToSpaceKernel final : public StridedCopyKernel {
 protected:
  Status plan_copy(const ResolveContext& context, StridedCopy& copy) const override {
    const Shape& x = context.input_shape(0);
    const Shape& y = context.output_shape(0);
    const int64_t b = block_of(context.node());
    const int64_t plane = x[2] * x[3];
    const bool crd = is_crd(context.node());
    const int64_t depth = crd ? b * b * plane : plane;
    const int64_t column = crd ? plane : y[1] * plane;
    // Output axes: image, depth, row, row in its block, column, column in its block.
    const int64_t strides[] = {x[1] * plane, depth, x[3], b * column, 1, column};
    copy = plan_strided_copy(Shape{x[0], y[1], x[2], b, x[3], b}, strides);
    return Status::ok();
  }
};

class SpaceToDepthKernel final : public StridedCopyKernel {
 protected:
  Status plan_copy(const ResolveContext& context, StridedCopy& copy) const override {
    const Shape& x = context.input_shape(0);
    const Shape& y = context.output_shape(0);
    const int64_t b = block_of(context.node());
    const int64_t plane = x[2] * x[3];
    if (is_crd(context.node())) {
      const int64_t strides[] = {x[1] * plane, plane, x[3], 1, b * x[3], b};
      copy = plan_strided_copy(Shape{x[0], x[1], b, b, y[2], y[3]}, strides);
    } else {
      const int64_t strides[] = {x[1] * plane, x[3], 1, plane, b * x[3], b};
      copy = plan_strided_copy(Shape{x[0], b, b, x[1], y[2], y[3]}, strides);
    }
    return Status::ok();
  }
};

template <typename K>
std::unique_ptr<Kernel> prepare(const PrepareContext&) {
  return std::make_unique<K>();
}

}  // namespace

extern const OpDef kDepthToSpace = {
    .domain = "",
    .name = "DepthToSpace",
    .versions = kDepthVersions,
    .traits = kZeroPreserving,
    .infer = infer_depth_to_space,
    .prepare = prepare<DepthToSpaceKernel>,
};
extern const OpDef kSpaceToDepth = {
    .domain = "",
    .name = "SpaceToDepth",
    .versions = kSpaceVersions,
    .traits = kZeroPreserving,
    .infer = infer_space_to_depth,
    .prepare = prepare<SpaceToDepthKernel>,
};

}  // namespace sardonyx
