// Hardmax: 1 at the first largest element along an axis, 0 elsewhere (before version 13: along all
// axes from it on).
#include "ops/op.h"
#include "ops/softmax/softmax.h"
#include "ops/widen.h"

namespace sardonyx {
namespace {

template <typename T>
class HardmaxKernel final : public Kernel {
 public:
  explicit HardmaxKernel(SoftmaxParams params) : params_(params) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto view = std::make_shared<SoftmaxView>(softmax_view(params_, context.input_shape(0)));
    plan.split(view->outer, 2.0 * static_cast<double>(view->length * view->inner));
    plan.state = std::move(view);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& v = context.state_as<SoftmaxView>();
    const Range part = context.part(v.outer);
    if (v.length == 0) return Status::ok();
    for (int64_t lane = part.begin * v.inner; lane < part.end * v.inner; ++lane) {
      const int64_t offset = lane / v.inner * v.length * v.inner + lane % v.inner;
      const T* in = context.in<T>(0) + offset;
      T* out = context.out<T>(0) + offset;
      int64_t best = 0;
      for (int64_t i = 1; i < v.length; ++i) {
        if (in[i * v.inner] > in[best * v.inner]) best = i;
      }
      for (int64_t i = 0; i < v.length; ++i) out[i * v.inner] = i == best ? T(1) : T(0);
    }
    return Status::ok();
  }

 private:
  SoftmaxParams params_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return floating_kernel<HardmaxKernel>(context, parse_softmax(context.node));
}

constexpr OpVersion kVersions[] = {
    {1, "input: T -> output: T | axis: int = 1 | T: @ieee"},
    {11, "input: T -> output: T | axis: int = 1 | T: @ieee"},
    {13, "input: T -> output: T | axis: int = -1 | T: @float"},
};

}  // namespace

extern const OpDef kHardmax = {.domain = "",
                               .name = "Hardmax",
                               .versions = kVersions,
                               .in_place = 0b1,
                               .infer = infer_softmax,
                               .prepare = prepare};

}  // namespace sardonyx
