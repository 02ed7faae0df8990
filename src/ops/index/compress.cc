// Compress: the slices of an axis, or the elements of the flattened input, whose condition is true.
// A shorter condition drops the rest.
#include <algorithm>

#include "ops/index/lanes.h"
#include "ops/op.h"
#include "ops/shape/strided_copy.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {9, "input: T, condition: T1 -> output: T | axis: int? | T: @all1, T1: bool"},
    {11, "input: T, condition: T1 -> output: T | axis: int? | T: @all1, T1: bool"},
    {28, "input: T, condition: T1 -> output: T | axis: int? | T: @all13, T1: bool"},
};

void infer(InferContext& context) {
  const DataType element = context.input_element(0);
  if (const SymShape& condition = context.input_shape(1); condition && condition->size() != 1) {
    context.fail("the condition must have one axis");
  }
  if (!context.node().attributes.contains("axis")) {
    return context.set_output(0, element, Dims{Dim::unknown()});
  }
  SymShape shape = context.input_shape(0);
  if (shape) {
    const int64_t axis = context.node().attributes.get_int("axis", 0);
    (*shape)[static_cast<size_t>(context.normalize_axis(axis, shape->size()))] = Dim::unknown();
  }
  context.set_output(0, element, std::move(shape));
}

class CompressKernel final : public Kernel {
 public:
  explicit CompressKernel(const Node& node) {
    if (node.attributes.contains("axis")) axis_ = node.attributes.get_int("axis", 0);
  }

  Status run(const RunContext& context) const override {
    const TensorView& in = context.input(0);
    const auto* condition = context.in<uint8_t>(1);
    Shape shape = axis_ ? in.shape : Shape{in.size()};
    const auto at = static_cast<size_t>(
        axis_ ? (*axis_ < 0 ? *axis_ + static_cast<int64_t>(shape.size()) : *axis_) : 0);
    const Lanes lanes = lanes_of(shape, static_cast<int64_t>(at));
    const int64_t tested = std::min(lanes.size, context.input(1).size());
    const int64_t kept =
        std::count_if(condition, condition + tested, [](uint8_t c) { return c != 0; });
    shape[at] = kept;
    SDX_RETURN_IF_FAILED(context.allocate_output(0, shape));
    int64_t to = 0;
    for (int64_t row = 0; row < lanes.outer; ++row) {
      for (int64_t i = 0; i < tested; ++i) {
        if (condition[i] == 0) continue;
        copy_elements(in.type, in.data, (row * lanes.size + i) * lanes.inner,
                      context.output(0).data, to, lanes.inner);
        to += lanes.inner;
      }
    }
    return Status::ok();
  }

 private:
  std::optional<int64_t> axis_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<CompressKernel>(context.node);
}

}  // namespace

extern const OpDef kCompress = {
    .domain = "",
    .name = "Compress",
    .versions = kVersions,
    .traits = kDataDependentShape,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
