// LpNormalization: an axis divided by its sum of magnitudes (p = 1) or its Euclidean length (p =
// 2). What is all zero stays zero.
#include <cmath>

#include "ops/index/lanes.h"
#include "ops/op.h"
#include "ops/widen.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "input: T -> output: T | axis: int = -1, p: int = 2 | T: @ieee"},
    {22, "input: T -> output: T | axis: int = -1, p: int = 2 | T: @float"},
};

void infer(InferContext& context) {
  const int64_t p = context.node().attributes.get_int("p", 2);
  if (p != 1 && p != 2) context.fail(fmt::format("attribute 'p' is {}, expected 1 or 2", p));
  if (const SymShape& x = context.input_shape(0)) {
    context.normalize_axis(context.node().attributes.get_int("axis", -1), x->size());
  }
  context.same_as_input(0);
}

template <typename T>
class LpNormKernel final : public Kernel {
 public:
  explicit LpNormKernel(const Node& node)
      : axis_(node.attributes.get_int("axis", -1)), p_(node.attributes.get_int("p", 2)) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto lanes = std::make_shared<Lanes>(lanes_of(context.input_shape(0), axis_));
    plan.split(lanes->count(), 2.0 * static_cast<double>(lanes->size));
    plan.state = std::move(lanes);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const auto& lanes = context.state_as<Lanes>();
    const Range part = context.part(lanes.count());
    for (int64_t lane = part.begin; lane < part.end; ++lane) {
      const T* x = context.in<T>(0) + lanes.start(lane);
      T* y = context.out<T>(0) + lanes.start(lane);
      T sum = 0;
      for (int64_t i = 0; i < lanes.size; ++i) {
        const T value = x[i * lanes.inner];
        sum += p_ == 1 ? std::fabs(value) : value * value;
      }
      if (p_ == 2) sum = std::sqrt(sum);
      if (sum == 0) sum = 1;
      for (int64_t i = 0; i < lanes.size; ++i) y[i * lanes.inner] = x[i * lanes.inner] / sum;
    }
    return Status::ok();
  }

 private:
  int64_t axis_, p_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return floating_kernel<LpNormKernel>(context, context.node);
}

}  // namespace

extern const OpDef kLpNormalization = {
    .domain = "",
    .name = "LpNormalization",
    .versions = kVersions,
    .traits = kZeroPreserving,
    .in_place = 0b1,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
