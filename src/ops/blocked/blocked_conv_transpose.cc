// BlockedConvTranspose: transposed convolution of a blocked value by weights of
// PackConvTransposeWeights: activation(conv(X) + B + residual). Pads are explicit: packed weights
// depend on them.
#include "kernels/conv_transpose/conv_transpose.h"

#include <fmt/format.h>

#include "ops/blocked/conv_params.h"
#include "ops/conv/conv_transpose.h"
#include "ops/op.h"

namespace sardonyx {
namespace {

void infer(InferContext& context) {
  const BlockedConvParams params = parse_blocked_conv(context.node());
  const ConvTransposeParams window = parse_conv_transpose(context.node());
  const SymShape& x = context.input_shape(0);
  if (!x) return context.set_output(0, DataType::kFloat, std::nullopt);
  check_conv_input(context, params);
  check_window(context, params.window, 2);
  if (window.output_padding.size() != 0 && window.output_padding.size() != 2) {
    context.fail("output_padding must have two values");
  }
  DimTable& dims = context.dims();
  const Dims& in = *x;
  Dims out = {in[0], kernels::block_count(params.filters, params.tile.block)};
  for (size_t i = 0; i < 2; ++i) {
    const WindowParams& w = params.window;
    const int64_t extent = (w.kernel[i] - 1) * w.dilation(i) + 1;
    out.push_back(dims.max(dims.add(dims.mul(dims.sub(in[2 + i], 1), w.stride(i)),
                                    extent + window.extra(i) - w.pad_begin(i) - w.pad_end(i)),
                           0));
  }
  out.push_back(int64_t{params.tile.block});
  check_conv_operands(context, params, out);
  context.set_output(0, DataType::kFloat, std::move(out));
}

struct State {
  kernels::ConvShape shape;
  int64_t panels = 1;
  int64_t batch_ranges = 1, row_ranges = 1, panel_ranges = 1;
};

class BlockedConvTransposeKernel final : public Kernel {
 public:
  BlockedConvTransposeKernel(BlockedConvParams params, ConvTransposeParams window,
                             const kernels::ConvTransposeKernels& conv)
      : params_(std::move(params)), window_(std::move(window)), conv_(conv) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& x = context.input_shape(0);
    const Shape& y = context.output_shape(0);
    auto state = std::make_shared<State>();
    State& s = *state;
    s.shape = {x[0], params_.channels, params_.filters, params_.group,
               window_2d(settle_transposed(window_, {x.data() + 2, 2}, {y.data() + 2, 2},
                                           params_.window.kernel))};
    s.panels = kernels::conv_panels(s.shape, params_.tile);
    const kernels::Window2d& w = s.shape.window;
    const double macs = static_cast<double>(params_.channels / params_.group * params_.filters *
                                            w.kernel_h * w.kernel_w) *
                        static_cast<double>(x[0] * w.in_h * w.in_w);
    const int64_t wanted = blocked_chunks(macs / 15.0 + static_cast<double>(element_count(y)) / 4);
    const auto part = [](int64_t left, int64_t units) {
      return std::clamp<int64_t>(left, 1, std::max<int64_t>(units, 1));
    };
    s.batch_ranges = part(wanted, s.shape.batch);
    s.row_ranges = part((wanted + s.batch_ranges - 1) / s.batch_ranges, groups_of_rows(w));
    const int64_t taken = s.batch_ranges * s.row_ranges;
    s.panel_ranges = part((wanted + taken - 1) / taken, s.panels);
    plan.chunks[0] = static_cast<int>(taken * s.panel_ranges);
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
    const kernels::Window2d& w = s.shape.window;
    const int64_t row = context.chunk % s.row_ranges, rest = context.chunk / s.row_ranges;
    const int64_t panel = rest % s.panel_ranges, batch = rest / s.panel_ranges;
    const int64_t groups = groups_of_rows(w);
    conv_.run(args,
              {s.shape.batch * batch / s.batch_ranges, s.shape.batch * (batch + 1) / s.batch_ranges,
               groups * row / s.row_ranges * w.stride_h,
               std::min(w.out_h, groups * (row + 1) / s.row_ranges * w.stride_h),
               s.panels * panel / s.panel_ranges, s.panels * (panel + 1) / s.panel_ranges});
    return Status::ok();
  }

 private:
  // Output rows come in groups of one row for each vertical phase.
  static int64_t groups_of_rows(const kernels::Window2d& w) {
    return (w.out_h + w.stride_h - 1) / w.stride_h;
  }

  BlockedConvParams params_;
  ConvTransposeParams window_;
  const kernels::ConvTransposeKernels& conv_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  BlockedConvParams params = parse_blocked_conv(context.node);
  const WindowParams& w = params.window;
  const bool explicit_pads =
      w.auto_pad == AutoPad::kNotSet || (w.auto_pad == AutoPad::kValid && w.pads.empty());
  if (!explicit_pads || !kernels::conv_transpose_supported(kernel_shape(params), params.tile)) {
    context.unsupported("explicit pads, groups of whole blocks, kernels of up to 1024 elements");
  }
  return std::make_unique<BlockedConvTransposeKernel>(std::move(params),
                                                      parse_conv_transpose(context.node),
                                                      kernels::conv_transpose_kernels(context.isa));
}

constexpr OpVersion kVersions[] = {{1,
                                    "X: float, W: float, B: float?, residual: float? -> Y: float | "
                                    "output_padding: ints?, " SDX_BLOCKED_CONV_ATTRIBUTES}};

}  // namespace

extern const OpDef kBlockedConvTranspose = {.domain = kInternalDomain,
                                            .name = "BlockedConvTranspose",
                                            .versions = kVersions,
                                            .in_place = 0b1000,  // over the residual
                                            .infer = infer,
                                            .prepare = prepare};

}  // namespace sardonyx
