// BlockedMaxPool, BlockedAveragePool and BlockedGlobalAveragePool: pools of a blocked value; the
// first two as the standard's operators, without Indices.
#include "kernels/pool/pool.h"
#include "ops/blocked/blocked.h"
#include "ops/op.h"
#include "ops/pool/pool.h"

namespace sardonyx {
namespace {

void infer(InferContext& context) {
  const PoolParams params = parse_pool(context.node());
  check_blocked(context, 0);
  const SymShape& x = context.input_shape(0);
  if (!x) return context.set_output(0, DataType::kFloat, std::nullopt);
  check_window(context, params.window, 2);
  const Dims& in = *x;
  Dims out = in;
  for (size_t axis = 0; axis < 2; ++axis) {
    out[2 + axis] =
        window_output(context, params.window, axis, in[2 + axis], params.window.kernel[axis]);
  }
  context.set_output(0, DataType::kFloat, std::move(out));
}

struct State {
  kernels::PoolArgs args;
  PlaneGrid grid;
};

using PoolFunction = void (*)(const kernels::PoolArgs&, const kernels::PlaneRange&);

class BlockedPoolKernel final : public Kernel {
 public:
  BlockedPoolKernel(PoolParams params, PoolFunction function)
      : params_(std::move(params)), function_(function) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& x = context.input_shape(0);
    const Shape& y = context.output_shape(0);
    const WindowAxes axes =
        settle_window(params_.window, {x.data() + 2, 2}, {y.data() + 2, 2}, params_.window.kernel);
    auto state = std::make_shared<State>();
    kernels::PoolArgs& args = state->args;
    args.batch = x[0];
    args.channels = x[1] * x[4];  // pad lanes are zero and stay so
    args.window = window_2d(axes);
    args.pad_bottom = axes[0].pad_end;
    args.pad_right = axes[1].pad_end;
    args.count_include_pad = params_.count_include_pad;
    args.block = static_cast<int>(x[4]);
    const double taps = static_cast<double>(args.window.kernel_h * args.window.kernel_w);
    const double values = static_cast<double>(element_count(y));
    state->grid = PlaneGrid(y[0] * y[1], y[2], values * (0.2 + taps / 10.0));
    plan.chunks[0] = state->grid.chunks();
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const State& s = context.state_as<State>();
    kernels::PoolArgs args = s.args;
    args.input = context.in<float>(0);
    args.output = context.out<float>(0);
    function_(args, s.grid.range(context.chunk));
    return Status::ok();
  }

 private:
  PoolParams params_;
  PoolFunction function_;
};

std::unique_ptr<Kernel> prepare_max(const PrepareContext& context) {
  return std::make_unique<BlockedPoolKernel>(parse_pool(context.node),
                                             kernels::pool_kernels(context.isa).max);
}
std::unique_ptr<Kernel> prepare_average(const PrepareContext& context) {
  return std::make_unique<BlockedPoolKernel>(parse_pool(context.node),
                                             kernels::pool_kernels(context.isa).average);
}

void infer_global(InferContext& context) {
  check_blocked(context, 0);
  SymShape shape = context.input_shape(0);
  if (shape) (*shape)[2] = (*shape)[3] = Dim(1);
  context.set_output(0, DataType::kFloat, std::move(shape));
}

struct GlobalState {
  kernels::GlobalPoolArgs args;
  int64_t planes = 0;
};

class BlockedGlobalPoolKernel final : public Kernel {
 public:
  explicit BlockedGlobalPoolKernel(const kernels::PoolKernels& pool) : pool_(pool) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const BlockedDims x = blocked_dims(context.input_shape(0));
    auto state = std::make_shared<GlobalState>();
    state->args.batch = x.batch;
    state->args.channels = x.blocks * x.block;
    state->args.pixels = x.pixels();
    state->args.block = x.block;
    state->planes = x.planes();
    plan.split(x.planes(), 0.15 * static_cast<double>(x.pixels() * x.block));
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const GlobalState& s = context.state_as<GlobalState>();
    kernels::GlobalPoolArgs args = s.args;
    args.input = context.in<float>(0);
    args.output = context.out<float>(0);
    const Range planes = context.part(s.planes);
    pool_.global_average(args, planes.begin, planes.end);
    return Status::ok();
  }

 private:
  const kernels::PoolKernels& pool_;
};

std::unique_ptr<Kernel> prepare_global(const PrepareContext& context) {
  return std::make_unique<BlockedGlobalPoolKernel>(kernels::pool_kernels(context.isa));
}

#define POOL_SCHEMA                                                          \
  "X: float -> Y: float | auto_pad: string = 'NOTSET', ceil_mode: int = 0, " \
  "dilations: ints?, kernel_shape: ints!, pads: ints?, strides: ints?"
constexpr OpVersion kMaxVersions[] = {{1, POOL_SCHEMA}};
constexpr OpVersion kAverageVersions[] = {{1, POOL_SCHEMA ", count_include_pad: int = 0"}};
constexpr OpVersion kGlobalVersions[] = {{1, "X: T -> Y: T | | T: float"}};
#undef POOL_SCHEMA

}  // namespace

extern const OpDef kBlockedMaxPool = {.domain = kInternalDomain,
                                      .name = "BlockedMaxPool",
                                      .versions = kMaxVersions,
                                      .infer = infer,
                                      .prepare = prepare_max};
extern const OpDef kBlockedAveragePool = {.domain = kInternalDomain,
                                          .name = "BlockedAveragePool",
                                          .versions = kAverageVersions,
                                          .infer = infer,
                                          .prepare = prepare_average};
extern const OpDef kBlockedGlobalAveragePool = {.domain = kInternalDomain,
                                                .name = "BlockedGlobalAveragePool",
                                                .versions = kGlobalVersions,
                                                .infer = infer_global,
                                                .prepare = prepare_global};

}  // namespace sardonyx
