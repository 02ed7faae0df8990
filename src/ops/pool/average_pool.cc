// AveragePool: the mean of each window over its real cells, or with count_include_pad over real and
// pad cells; cells beyond the padded input (they arise from ceil_mode) never count. The mean of a
// window without cells is 0.
#include <algorithm>

#include "ops/op.h"
#include "ops/pool/pool.h"
#include "ops/widen.h"

namespace sardonyx {
namespace {

template <typename T>
class AveragePoolKernel final : public Kernel {
 public:
  explicit AveragePoolKernel(PoolParams params) : params_(std::move(params)) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto state = make_pool_state(params_, context);
    split_windows(*state, 1.0, plan);
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& state = context.state_as<PoolState>();
    const auto pool = [&](int64_t plane, int64_t position, const PoolPosition& at) {
      const T* in = context.in<T>(0) + plane * state.in_size;
      T sum = 0;
      int64_t cells = 0;
      auto visit = [&](int64_t cell) {
        sum += in[cell];
        ++cells;
      };
      visit_window(state, at, 0, 0, visit);
      int64_t divisor = cells;
      if (params_.count_include_pad) {
        divisor = 1;
        for (size_t axis = 0; axis < state.in.size(); ++axis) divisor *= at[axis]->with_pads;
      }
      context.out<T>(0)[plane * state.out_size + position] =
          sum / static_cast<T>(std::max<int64_t>(1, divisor));
    };
    for_each_position(state, context.part(state.planes * state.out_size), pool);
    return Status::ok();
  }

 private:
  PoolParams params_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return floating_kernel<AveragePoolKernel>(context, parse_pool(context.node));
}

#define AVERAGE_POOL_1 \
  "X: T -> Y: T | auto_pad: string = 'NOTSET', kernel_shape: ints!, pads: ints?, strides: ints?"
#define AVERAGE_POOL_7 AVERAGE_POOL_1 ", count_include_pad: int = 0"
#define AVERAGE_POOL_10 AVERAGE_POOL_7 ", ceil_mode: int = 0"
constexpr OpVersion kVersions[] = {
    {1, AVERAGE_POOL_1 " | T: @ieee"},
    {7, AVERAGE_POOL_7 " | T: @ieee"},
    {10, AVERAGE_POOL_10 " | T: @ieee"},
    {11, AVERAGE_POOL_10 " | T: @ieee"},
    {19, AVERAGE_POOL_10 ", dilations: ints? | T: @ieee"},
    {22, AVERAGE_POOL_10 ", dilations: ints? | T: @float"},
};
#undef AVERAGE_POOL_10
#undef AVERAGE_POOL_7
#undef AVERAGE_POOL_1

}  // namespace

extern const OpDef kAveragePool = {.domain = "",
                                   .name = "AveragePool",
                                   .versions = kVersions,
                                   .infer = infer_pool,
                                   .prepare = prepare};

}  // namespace sardonyx
