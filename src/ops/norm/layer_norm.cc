// LayerNormalization: rows (all dimensions from `axis` on) brought to mean 0 and variance 1, then
// scaled and shifted. Statistics take two passes in float (double for double input).
#include <fmt/format.h>

#include <cmath>

#include "kernels/norm/norm.h"
#include "ops/norm/affine.h"
#include "ops/op.h"
#include "ops/widen.h"

namespace sardonyx {
namespace {

struct LayerNormParams {
  int64_t axis = -1;
  float epsilon = 1e-5f;
  DataType stash = DataType::kFloat;  // of Mean and InvStdDev
};

LayerNormParams parse(const Node& node) {
  LayerNormParams params;
  params.axis = node.attributes.get_int("axis", -1);
  params.epsilon = node.attributes.get_float("epsilon", 1e-5f);
  const int64_t stash = node.attributes.get_int("stash_type", 1);
  if (stash == static_cast<int64_t>(DataType::kBfloat16)) params.stash = DataType::kBfloat16;
  return params;
}

void infer(InferContext& context) {
  const LayerNormParams params = parse(context.node());
  context.same_as_input();
  SymShape statistics = context.input_shape(0);
  if (statistics) {
    const auto axis = static_cast<size_t>(context.normalize_axis(params.axis, statistics->size()));
    check_row_affine(context, 1, axis);
    check_row_affine(context, 2, axis);
    for (size_t i = axis; i < statistics->size(); ++i) (*statistics)[i] = 1;
  }
  context.set_output(1, params.stash, statistics);
  context.set_output(2, params.stash, std::move(statistics));
}

// One row of the generic path.
template <typename T>
void normalize_row(const T* x, int64_t n, T epsilon, const T* scale, const T* bias, T* y, T* mean,
                   T* inv_std) {
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  const T m = sum / static_cast<T>(n);
  T squares = 0;
  for (int64_t i = 0; i < n; ++i) squares += (x[i] - m) * (x[i] - m);
  const T inv = T(1) / std::sqrt(squares / static_cast<T>(n) + epsilon);
  for (int64_t i = 0; i < n; ++i) {
    y[i] = (x[i] - m) * inv * scale[i] + (bias == nullptr ? T(0) : bias[i]);
  }
  if (mean != nullptr) *mean = m;
  if (inv_std != nullptr) *inv_std = inv;
}

template <typename T>
class LayerNormKernel final : public Kernel {
 public:
  LayerNormKernel(LayerNormParams params, Isa isa)
      : params_(params), kernels_(kernels::norm_kernels(isa)) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    plan_row_affine<T>(context, params_.axis, plan, std::is_same_v<T, float> ? 0.6 : 4.0);
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
    const T* bias = context.has_input(2) ? state.bias.data<T>(context, 2) : nullptr;
    T* mean = context.has_output(1) ? context.out<T>(1) + rows.begin : nullptr;
    T* inv_std = context.has_output(2) ? context.out<T>(2) + rows.begin : nullptr;
    if constexpr (std::is_same_v<T, float>) {
      kernels::NormArgs args;
      args.rows = rows.end - rows.begin;
      args.columns = args.in_stride = args.out_stride = n;
      args.in = x;
      args.scale = scale;
      args.bias = bias;
      args.epsilon = params_.epsilon;
      args.out = y;
      args.mean = mean;
      args.inv_std = inv_std;
      kernels_.layer_norm(args);
    } else {
      for (int64_t row = 0; row < rows.end - rows.begin; ++row) {
        normalize_row<T>(x + row * n, n, static_cast<T>(params_.epsilon), scale, bias, y + row * n,
                         mean ? mean + row : nullptr, inv_std ? inv_std + row : nullptr);
      }
    }
    return Status::ok();
  }

 private:
  LayerNormParams params_;
  const kernels::NormKernels& kernels_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return floating_kernel<LayerNormKernel>(context, parse(context.node), context.isa);
}

#define LAYER_NORM_SCHEMA                                                     \
  "X: T, Scale: T, B: T? -> Y: T, Mean: U?, InvStdDev: U? | axis: int = -1, " \
  "epsilon: float = 1e-05, stash_type: int = 1 | T: @float, U: float bfloat16"
constexpr OpVersion kVersions[] = {
    {17, LAYER_NORM_SCHEMA},
};
#undef LAYER_NORM_SCHEMA

}  // namespace

extern const OpDef kLayerNormalization = {.domain = "",
                                          .name = "LayerNormalization",
                                          .versions = kVersions,
                                          .in_place = 0b1,
                                          .infer = infer,
                                          .prepare = prepare};

}  // namespace sardonyx
