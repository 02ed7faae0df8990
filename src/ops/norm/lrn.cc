// LRN: x divided by (bias + alpha / size * sum of squares of the channels around) ^ beta.
#include <algorithm>
#include <cmath>

#include "ops/op.h"
#include "ops/widen.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1,
     "X: T -> Y: T | alpha: float = 1e-04, beta: float = 0.75, bias: float = 1, size: int! | T: "
     "@ieee"},
    {13,
     "X: T -> Y: T | alpha: float = 1e-04, beta: float = 0.75, bias: float = 1, size: int! | T: "
     "@float"},
};

void infer(InferContext& context) {
  if (context.node().attributes.get_int("size", 0) < 1) {
    context.fail("attribute 'size' must be positive");
  }
  const SymShape& x = context.input_shape(0);
  if (x && x->size() < 2) context.fail("the input must have a channel axis");
  context.same_as_input(0);
}

struct LrnPlan {
  int64_t rows = 0, channels = 0, plane = 0;
};

template <typename T>
class LrnKernel final : public Kernel {
 public:
  explicit LrnKernel(const Node& node)
      : size_(node.attributes.get_int("size", 1)),
        alpha_(static_cast<T>(node.attributes.get_float("alpha", 1e-4f))),
        beta_(static_cast<T>(node.attributes.get_float("beta", 0.75f))),
        bias_(static_cast<T>(node.attributes.get_float("bias", 1.0f))) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& shape = context.input_shape(0);
    auto state = std::make_shared<LrnPlan>();
    state->rows = shape[0] * shape[1];
    state->channels = shape[1];
    state->plane = element_count(shape, 2, shape.size());
    const auto window = static_cast<double>(std::min(size_, shape[1]));
    plan.split(state->rows, static_cast<double>(state->plane) * (5.0 + 0.5 * window));
    plan.state = std::move(state);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const auto [rows, channels, plane] = context.state_as<LrnPlan>();
    const Range part = context.part(rows);
    const T scale = alpha_ / static_cast<T>(size_);
    for (int64_t row = part.begin; row < part.end; ++row) {
      const int64_t channel = row % channels;
      // floor((size - 1) / 2) channels before, ceil of it behind.
      const int64_t begin = std::max<int64_t>(0, channel - (size_ - 1) / 2);
      const int64_t end = std::min(channels - 1, channel + size_ / 2);
      const T* image = context.in<T>(0) + (row - channel) * plane;
      const T* x = image + channel * plane;
      T* y = context.out<T>(0) + row * plane;
      std::fill_n(y, plane, T(0));
      for (int64_t c = begin; c <= end; ++c) {
        const T* other = image + c * plane;
        for (int64_t i = 0; i < plane; ++i) y[i] += other[i] * other[i];
      }
      if (beta_ == T(0.75)) {
        for (int64_t i = 0; i < plane; ++i) {
          const T root = std::sqrt(bias_ + scale * y[i]);
          y[i] = x[i] / (root * std::sqrt(root));
        }
      } else {
        for (int64_t i = 0; i < plane; ++i) y[i] = x[i] / std::pow(bias_ + scale * y[i], beta_);
      }
    }
    return Status::ok();
  }

 private:
  int64_t size_;
  T alpha_, beta_, bias_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return floating_kernel<LrnKernel>(context, context.node);
}

}  // namespace

extern const OpDef kLRN = {
    .domain = "",
    .name = "LRN",
    .versions = kVersions,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
