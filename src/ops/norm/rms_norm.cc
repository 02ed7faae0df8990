// RMSNormalization: rows (all dimensions from `axis` on) divided by their root mean square, then
// scaled. The square mean is taken in float (double for double input).
#include <cmath>

#include "kernels/norm/norm.h"
#include "ops/norm/affine.h"
#include "ops/op.h"
#include "ops/widen.h"

namespace sardonyx {
namespace {

struct RmsNormParams {
  int64_t axis = -1;
  float epsilon = 1e-5f;
};

RmsNormParams parse(const Node& node) {
  return {node.attributes.get_int("axis", -1), node.attributes.get_float("epsilon", 1e-5f)};
}

void infer(InferContext& context) {
  const RmsNormParams params = parse(context.node());
  const SymShape& x = context.input_shape(0);
  if (x) {
    check_row_affine(context, 1,
                     static_cast<size_t>(context.normalize_axis(params.axis, x->size())));
  }
  context.set_output(0, context.input_element(1), x);
}

template <typename T>
class RmsNormKernel final : public Kernel {
 public:
  RmsNormKernel(RmsNormParams params, Isa isa)
      : params_(params), kernels_(kernels::norm_kernels(isa)) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    plan_row_affine<T>(context, params_.axis, plan, std::is_same_v<T, float> ? 0.4 : 3.0);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& state = context.state_as<RowAffineState>();
    if (expand_row_affine<T>(context, state)) return Status::ok();
    const Range rows = context.part(state.rows);
    const int64_t n = state.columns;
    if (rows.begin == rows.end) return Status::ok();
    const T* x = context.in<T>(0) + rows.begin * n;
    T* y = context.out<T>(0) + rows.begin * n;
    const T* scale = state.scale.data<T>(context, 1);
    if constexpr (std::is_same_v<T, float>) {
      kernels::NormArgs args;
      args.rows = rows.end - rows.begin;
      args.columns = args.in_stride = args.out_stride = n;
      args.in = x;
      args.scale = scale;
      args.epsilon = params_.epsilon;
      args.out = y;
      kernels_.rms_norm(args);
      return Status::ok();
    }
    for (int64_t row = rows.begin; row < rows.end; ++row, x += n, y += n) {
      T squares = 0;
      for (int64_t i = 0; i < n; ++i) squares += x[i] * x[i];
      const T inv = T(1) / std::sqrt(squares / static_cast<T>(n) + static_cast<T>(params_.epsilon));
      for (int64_t i = 0; i < n; ++i) y[i] = x[i] * inv * scale[i];
    }
    return Status::ok();
  }

 private:
  RmsNormParams params_;
  const kernels::NormKernels& kernels_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return floating_kernel<RmsNormKernel>(context, parse(context.node), context.isa);
}

constexpr OpVersion kVersions[] = {
    {23,
     "X: T, scale: V -> Y: V | axis: int = -1, epsilon: float = 1e-05, stash_type: int = 1 | "
     "T: @float, V: @float"},
};

}  // namespace

extern const OpDef kRMSNormalization = {.domain = "",
                                        .name = "RMSNormalization",
                                        .versions = kVersions,
                                        .in_place = 0b1,
                                        .infer = infer,
                                        .prepare = prepare};

}  // namespace sardonyx
