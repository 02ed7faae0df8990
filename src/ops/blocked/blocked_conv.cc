// BlockedConv: convolution of a blocked value (or, with plain_input, of plain NCHW) by weights of
// PackConvWeights: activation(conv(X) + B + residual).
#include "kernels/conv/conv.h"
#include "ops/blocked/conv_params.h"
#include "ops/op.h"

namespace sardonyx {
namespace {

struct State {
  kernels::ConvShape shape;
  int64_t panels = 1;
  int64_t batch_ranges = 1, pixel_ranges = 1, panel_ranges = 1;
};

// Ranges of pixels share the weights, ranges of panels share the input: the smaller one is shared
// first. Fewer than kLeastPixels in a range would stream the weights too often.
void split(State& s, StepPlan& plan) {
  constexpr int64_t kLeastPixels = 2 * kernels::kConvPixelGrain;
  constexpr double kMacsPerNanosecond = 25.0;
  const kernels::Window2d& w = s.shape.window;
  const int64_t pixels = w.out_h * w.out_w;
  const int64_t weights =
      s.shape.in_channels / s.shape.groups * s.shape.out_channels * w.kernel_h * w.kernel_w;
  const int64_t input = s.shape.in_channels * w.in_h * w.in_w;
  const double macs = static_cast<double>(weights) * static_cast<double>(pixels * s.shape.batch);
  const int64_t wanted =
      blocked_chunks(std::max(macs / kMacsPerNanosecond, static_cast<double>(weights) * 0.3));
  const auto part = [](int64_t left, int64_t units) {
    return std::clamp<int64_t>(left, 1, std::max<int64_t>(units, 1));
  };
  const auto rest = [](int64_t total, int64_t taken) { return (total + taken - 1) / taken; };
  s.batch_ranges = part(wanted, s.shape.batch);
  const int64_t left = rest(wanted, s.batch_ranges);
  if (weights > input) {
    s.panel_ranges = part(left, s.panels);
    s.pixel_ranges = part(rest(left, s.panel_ranges), pixels / kLeastPixels);
  } else {
    s.pixel_ranges = part(left, pixels / kLeastPixels);
    s.panel_ranges = part(rest(left, s.pixel_ranges), s.panels);
  }
  plan.chunks[0] = static_cast<int>(s.batch_ranges * s.pixel_ranges * s.panel_ranges);
}

class BlockedConvKernel final : public Kernel {
 public:
  BlockedConvKernel(BlockedConvParams params, const kernels::ConvKernels& conv)
      : params_(std::move(params)), conv_(conv) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& x = context.input_shape(0);
    const Shape& y = context.output_shape(0);
    auto state = std::make_shared<State>();
    state->shape = {x[0], params_.channels, params_.filters, params_.group,
                    window_2d(settle_window(params_.window, {x.data() + 2, 2}, {y.data() + 2, 2},
                                            params_.window.kernel))};
    state->panels = kernels::conv_panels(state->shape, params_.tile);
    split(*state, plan);
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const State& s = context.state_as<State>();
    kernels::ConvArgs args;
    args.shape = s.shape;
    args.tile = params_.tile;
    args.input = context.in<float>(0);
    args.weights = context.in<float>(1);
    args.bias = context.has_input(2) ? context.in<float>(2) : nullptr;
    args.residual = context.has_input(3) ? context.in<float>(3) : nullptr;
    args.output = context.out<float>(0);
    args.epilogue = params_.epilogue;

    // Pixels fastest: neighbours in time then share the weights.
    int64_t chunk = context.chunk;
    const auto take = [&chunk](int64_t total, int64_t grain, int64_t ranges) {
      const int64_t units = (total + grain - 1) / grain, i = chunk % ranges;
      chunk /= ranges;
      return Range{units * i / ranges * grain, std::min(total, units * (i + 1) / ranges * grain)};
    };
    const int64_t pixels = s.shape.window.out_h * s.shape.window.out_w;
    const Range pixel = take(pixels, kernels::kConvPixelGrain, s.pixel_ranges);
    const Range panel = take(s.panels, 1, s.panel_ranges);
    const Range batch = take(s.shape.batch, 1, s.batch_ranges);
    conv_.run(args, {batch.begin, batch.end, pixel.begin, pixel.end, panel.begin, panel.end});
    return Status::ok();
  }

 private:
  BlockedConvParams params_;
  const kernels::ConvKernels& conv_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  BlockedConvParams params = parse_blocked_conv(context.node);
  if (!kernels::conv_supported(kernel_shape(params), params.tile)) {
    context.unsupported("groups of whole blocks and kernels of up to 1024 elements");
  }
  return std::make_unique<BlockedConvKernel>(std::move(params), kernels::conv_kernels(context.isa));
}

constexpr OpVersion kVersions[] = {
    {1,
     "X: float, W: float, B: float?, residual: float? -> Y: float | " SDX_BLOCKED_CONV_ATTRIBUTES}};

}  // namespace

extern const OpDef kBlockedConv = {.domain = kInternalDomain,
                                   .name = "BlockedConv",
                                   .versions = kVersions,
                                   .in_place = 0b1000,  // over the residual
                                   .infer = infer_blocked_conv,
                                   .prepare = prepare};

}  // namespace sardonyx
