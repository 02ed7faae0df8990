// Swish: x * sigmoid(alpha * x). With alpha 1 (SiLU) the vectorised row, else a plain loop.
#include <algorithm>
#include <cmath>

#include "ops/elementwise/unary.h"
#include "ops/widen.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {{24, "X: T -> Y: T | alpha: float = 1.0 | T: @float"}};

constexpr UnaryRow kSilu = {kernels::UnaryOp::kSilu,
                            [](double x, double, double) { return x / (1.0 + std::exp(-x)); }, 1.5};

template <typename T>
class ScaledSwish final : public Kernel {
 public:
  explicit ScaledSwish(double alpha) : alpha_(static_cast<T>(alpha)) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    plan.split((element_count(context.input_shape(0)) + kUnit - 1) / kUnit, 8.0 * kUnit);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const int64_t count = context.input(0).size();
    const Range units = context.part((count + kUnit - 1) / kUnit);
    const T* in = context.in<T>(0);
    T* out = context.out<T>(0);
    for (int64_t i = units.begin * kUnit; i < std::min(units.end * kUnit, count); ++i) {
      out[i] = in[i] / (T(1) + std::exp(-alpha_ * in[i]));
    }
    return Status::ok();
  }

 private:
  static constexpr int64_t kUnit = 512;
  const T alpha_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  const float alpha = context.node.attributes.get_float("alpha", 1.0f);
  if (alpha == 1.0f) return prepare_unary(context, kSilu);
  return floating_kernel<ScaledSwish>(context, alpha);
}

}  // namespace

extern const OpDef kSwish = {
    .domain = "",
    .name = "Swish",
    .versions = kVersions,
    .traits = kElementwise | kZeroPreserving,
    .in_place = 0b1,
    .infer = infer_unary,
    .prepare = prepare,
};

}  // namespace sardonyx
