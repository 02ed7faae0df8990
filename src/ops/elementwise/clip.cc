#include <limits>

#include "kernels/elementwise/elementwise.h"
#include "ops/elementwise/loop.h"
#include "ops/op.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "input: T -> output: T | consumed_inputs: ints?, max: float?, min: float? | T: @ieee"},
    {6,
     "input: T -> output: T | max: float = 3.4028235e+38, min: float = -3.4028235e+38 | T: @ieee"},
    {11, "input: T, min: T?, max: T? -> output: T | | T: @ieee"},
    {12, "input: T, min: T?, max: T? -> output: T | | T: @numeric"},
    {13, "input: T, min: T?, max: T? -> output: T | | T: @numeric13"},
};

// max(x, low), then min(., high): NaN stays; low > high gives high everywhere.
template <typename T>
T clip(T x, T low, T high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

template <typename T>
T lowest() {
  return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                     : std::numeric_limits<T>::lowest();
}
template <typename T>
T highest() {
  return std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                     : std::numeric_limits<T>::max();
}

class ClipKernel final : public Kernel {
 public:
  explicit ClipKernel(const PrepareContext& context)
      : type_(context.input_element(0)),
        clip_floats_(kernels::unary_kernels(context.isa)[kernels::UnaryOp::kClip]),
        bounds_are_inputs_(context.node.version >= 11) {
    constexpr float kLargest = std::numeric_limits<float>::max();
    const bool bounded = context.node.version == 6;
    const float infinity = std::numeric_limits<float>::infinity();
    low_ = context.node.attributes.get_float("min", bounded ? -kLargest : -infinity);
    high_ = context.node.attributes.get_float("max", bounded ? kLargest : infinity);
  }

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    plan.split(loop_units(element_count(context.input_shape(0))), 0.4 * kLoopUnit);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const Range part = loop_part(context, context.input(0).size());
    if (type_ == DataType::kFloat) {
      const auto [low, high] = bounds<float>(context);
      clip_floats_(context.in<float>(0) + part.begin, context.out<float>(0) + part.begin,
                   part.end - part.begin, low, high);
      return Status::ok();
    }
    visit_numbers(type_, [&]<typename T>(TypeTag<T>) {
      const auto [low, high] = bounds<T>(context);
      const T* in = context.in<T>(0);
      T* out = context.out<T>(0);
      for (int64_t i = part.begin; i < part.end; ++i) {
        out[i] = from_compute<T>(clip<Compute<T>>(to_compute(in[i]), low, high));
      }
    });
    return Status::ok();
  }

 private:
  template <typename T>
  std::pair<Compute<T>, Compute<T>> bounds(const RunContext& context) const {
    using Value = Compute<T>;
    if (!bounds_are_inputs_) {
      if constexpr (std::is_floating_point_v<Value>) return {low_, high_};
    }
    return {context.has_input(1) ? to_compute(context.in<T>(1)[0]) : lowest<Value>(),
            context.has_input(2) ? to_compute(context.in<T>(2)[0]) : highest<Value>()};
  }

  DataType type_;
  kernels::UnaryFunction clip_floats_;
  bool bounds_are_inputs_;
  float low_, high_;
};

void infer(InferContext& context) {
  for (size_t i : {size_t{1}, size_t{2}}) {
    const std::optional<Shape> shape = to_shape(context.input_shape(i));
    // One element of any rank is accepted where a scalar is asked for.
    if (shape && element_count(*shape) != 1) {
      context.fail(std::string(i == 1 ? "min" : "max") + " must be a scalar");
    }
  }
  context.same_as_input(0);
}

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  if (!visit_numbers(context.input_element(0), [](auto) {})) context.unsupported("numbers");
  return std::make_unique<ClipKernel>(context);
}

}  // namespace

extern const OpDef kClip = {
    .domain = "",
    .name = "Clip",
    .versions = kVersions,
    .traits = kElementwise,
    .in_place = 0b1,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
