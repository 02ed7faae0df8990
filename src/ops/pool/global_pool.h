// What the global pools share: one value for each plane of the input.
#pragma once

#include "ops/infer.h"
#include "ops/kernel.h"

namespace sardonyx {

// [N, C, ...] -> [N, C, 1, ...].
void infer_global_pool(InferContext& context);

struct GlobalPoolState {
  int64_t planes = 0;
  int64_t cells = 0;  // of a plane
};

// `plane_value(cells, count)` folds one plane.
template <typename T, typename Fold>
class GlobalPoolKernel final : public Kernel {
 public:
  explicit GlobalPoolKernel(Fold fold) : fold_(fold) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& x = context.input_shape(0);
    auto state = std::make_shared<GlobalPoolState>();
    state->planes = element_count(x, 0, 2);
    state->cells = element_count(x, 2, x.size());
    plan.split(state->planes, 0.5 * static_cast<double>(state->cells));
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& state = context.state_as<GlobalPoolState>();
    const Range planes = context.part(state.planes);
    for (int64_t plane = planes.begin; plane < planes.end; ++plane) {
      context.out<T>(0)[plane] = fold_(context.in<T>(0) + plane * state.cells, state.cells);
    }
    return Status::ok();
  }

 private:
  Fold fold_;
};

}  // namespace sardonyx
