#include "ops/index/element_walk.h"
#include "ops/op.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {11, "data: T, indices: Tind -> output: T | axis: int = 0 | T: @all1, Tind: int32 int64"},
    {13, "data: T, indices: Tind -> output: T | axis: int = 0 | T: @all13, Tind: int32 int64"},
};

void infer(InferContext& context) {
  check_element_indices(context);
  context.set_output(0, context.input_element(0), context.input_shape(1));
}

class GatherElementsKernel final : public Kernel {
 public:
  explicit GatherElementsKernel(int64_t axis) : axis_(axis) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto walk = std::make_shared<ElementWalk>(
        plan_element_walk(context.input_shape(0), context.input_shape(1), axis_));
    plan.split(walk->count, context.input_type(0) == DataType::kString ? 30.0 : 3.0);
    plan.state = std::move(walk);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const auto& walk = context.state_as<ElementWalk>();
    const TensorView& indices = context.input(1);
    Status status;
    visit_width(context.input(0).type, [&]<typename T>(TypeTag<T>) {
      const T* data = context.in<T>(0);
      T* out = context.out<T>(0);
      status = walk.run(context.part(walk.count), [&](int64_t i, int64_t offset) {
        int64_t index = index_at(indices, i);
        if (!wrap_index(index, walk.axis_size)) {
          return index_outside("GatherElements", index, walk.axis_size);
        }
        out[i] = data[offset + index * walk.axis_stride];
        return Status::ok();
      });
    });
    return status;
  }

 private:
  int64_t axis_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<GatherElementsKernel>(context.node.attributes.get_int("axis", 0));
}

}  // namespace

extern const OpDef kGatherElements = {
    .domain = "",
    .name = "GatherElements",
    .versions = kVersions,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
