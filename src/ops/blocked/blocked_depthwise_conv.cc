// BlockedDepthwiseConv: one filter for each channel of a blocked value, weights of
// PackDepthwiseWeights: activation(conv(X) + B + residual). `group` and `filters` equal `channels`.
#include "kernels/depthwise/depthwise.h"
#include "ops/blocked/conv_params.h"
#include "ops/op.h"

namespace sardonyx {
namespace {

struct State {
  kernels::DepthwiseShape shape;
  PlaneGrid grid;
};

class BlockedDepthwiseKernel final : public Kernel {
 public:
  BlockedDepthwiseKernel(BlockedConvParams params, const kernels::DepthwiseKernels& depthwise)
      : params_(std::move(params)), depthwise_(depthwise) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& x = context.input_shape(0);
    const Shape& y = context.output_shape(0);
    auto state = std::make_shared<State>();
    state->shape = {x[0], params_.channels,
                    window_2d(settle_window(params_.window, {x.data() + 2, 2}, {y.data() + 2, 2},
                                            params_.window.kernel))};
    const kernels::Window2d& w = state->shape.window;
    const double taps = static_cast<double>(w.kernel_h * w.kernel_w);
    const double values = static_cast<double>(element_count(y));
    state->grid = PlaneGrid(y[0] * y[1], w.out_h, values * (0.15 + taps / 15.0));
    plan.chunks[0] = state->grid.chunks();
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const State& s = context.state_as<State>();
    kernels::DepthwiseArgs args;
    args.shape = s.shape;
    args.block = params_.tile.block;
    args.input = context.in<float>(0);
    args.weights = context.in<float>(1);
    args.bias = context.has_input(2) ? context.in<float>(2) : nullptr;
    args.residual = context.has_input(3) ? context.in<float>(3) : nullptr;
    args.output = context.out<float>(0);
    args.epilogue = params_.epilogue;
    depthwise_.run(args, s.grid.range(context.chunk));
    return Status::ok();
  }

 private:
  BlockedConvParams params_;
  const kernels::DepthwiseKernels& depthwise_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  BlockedConvParams params = parse_blocked_conv(context.node);
  if (params.group != params.channels || params.filters != params.channels ||
      params.tile.plain_input) {
    context.unsupported("as many groups and filters as channels, blocked");
  }
  return std::make_unique<BlockedDepthwiseKernel>(std::move(params),
                                                  kernels::depthwise_kernels(context.isa));
}

constexpr OpVersion kVersions[] = {
    {1,
     "X: float, W: float, B: float?, residual: float? -> Y: float | " SDX_BLOCKED_CONV_ATTRIBUTES}};

}  // namespace

extern const OpDef kBlockedDepthwiseConv = {.domain = kInternalDomain,
                                            .name = "BlockedDepthwiseConv",
                                            .versions = kVersions,
                                            .in_place = 0b1000,  // over the residual
                                            .infer = infer_blocked_conv,
                                            .prepare = prepare};

}  // namespace sardonyx
