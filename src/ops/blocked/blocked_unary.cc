// BlockedUnary: an activation of a blocked value, named by the epilogue attributes.
#include "kernels/blocked/blocked.h"
#include "ops/blocked/blocked.h"
#include "ops/epilogue.h"
#include "ops/op.h"

namespace sardonyx {
namespace {

void infer(InferContext& context) {
  check_blocked(context, 0, parse_channels(context.node()));
  context.same_as_input(0);
}

struct State {
  kernels::BlockedActivationArgs args;
  PlaneGrid grid;  // "rows" are pixels
};

class BlockedUnaryKernel final : public Kernel {
 public:
  BlockedUnaryKernel(const kernels::Epilogue& epilogue, int64_t channels,
                     const kernels::BlockedKernels& blocked)
      : epilogue_(epilogue), channels_(channels), blocked_(blocked) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const BlockedDims x = blocked_dims(context.input_shape(0));
    auto state = std::make_shared<State>();
    state->args = {x.batch, channels_, x.pixels(), x.block, nullptr, nullptr, epilogue_};
    const double values = static_cast<double>(x.planes() * x.pixels() * x.block);
    state->grid = PlaneGrid(x.planes(), x.pixels(), values * 0.4);
    plan.chunks[0] = state->grid.chunks();
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const State& s = context.state_as<State>();
    kernels::BlockedActivationArgs args = s.args;
    args.input = context.in<float>(0);
    args.output = context.out<float>(0);
    const kernels::PlaneRange r = s.grid.range(context.chunk);
    blocked_.activation(args, {r.plane_begin, r.plane_end, r.row_begin, r.row_end});
    return Status::ok();
  }

 private:
  kernels::Epilogue epilogue_;
  int64_t channels_;
  const kernels::BlockedKernels& blocked_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<BlockedUnaryKernel>(parse_epilogue(context.node),
                                              parse_channels(context.node),
                                              kernels::blocked_kernels(context.isa));
}

constexpr OpVersion kVersions[] = {
    {1,
     "X: float -> Y: float | channels: int!, activation: string = '', alpha: float = 0.0, "
     "beta: float = 0.0"}};

}  // namespace

extern const OpDef kBlockedUnary = {.domain = kInternalDomain,
                                    .name = "BlockedUnary",
                                    .versions = kVersions,
                                    .in_place = 0b1,
                                    .infer = infer,
                                    .prepare = prepare};

}  // namespace sardonyx
