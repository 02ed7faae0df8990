// Shrink: x < -lambd ? x + bias : x > lambd ? x - bias : 0. Integers are computed in double, or
// exactly where an 8-byte type does not fit in one.
#include <algorithm>

#include "ops/elementwise/loop.h"
#include "ops/elementwise/unary.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {9, "input: T -> output: T | bias: float = 0, lambd: float = 0.5 | T: @numeric"},
};

template <typename T>
T shrink(T value, float bias, float lambd) {
  if constexpr (std::is_same_v<T, float>) {
    return value < -lambd ? value + bias : value > lambd ? value - bias : 0.0f;
  } else if constexpr (kIsNarrow<T>) {
    return T::from(shrink<float>(value, bias, lambd));
  } else {
    using Wide = std::conditional_t<sizeof(T) == 8 && std::is_integral_v<T>, long double, double>;
    const auto x = static_cast<Wide>(value);
    const Wide y = x < -static_cast<Wide>(lambd)  ? x + static_cast<Wide>(bias)
                   : x > static_cast<Wide>(lambd) ? x - static_cast<Wide>(bias)
                                                  : Wide{0};
    if constexpr (std::is_integral_v<T>) {
      constexpr auto kLow = static_cast<Wide>(std::numeric_limits<T>::min());
      constexpr auto kHigh = static_cast<Wide>(std::numeric_limits<T>::max());
      return y != y ? T{0} : static_cast<T>(std::clamp(y, kLow, kHigh));
    } else {
      return y;
    }
  }
}

class ShrinkKernel final : public Kernel {
 public:
  ShrinkKernel(float bias, float lambd) : bias_(bias), lambd_(lambd) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    plan.split(loop_units(element_count(context.input_shape(0))), 1.0 * kLoopUnit);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const Range part = loop_part(context, context.input(0).size());
    visit_numbers(context.input(0).type, [&]<typename T>(TypeTag<T>) {
      const T* in = context.in<T>(0);
      T* out = context.out<T>(0);
      for (int64_t i = part.begin; i < part.end; ++i) out[i] = shrink<T>(in[i], bias_, lambd_);
    });
    return Status::ok();
  }

 private:
  float bias_, lambd_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  if (!visit_numbers(context.input_element(0), [](auto) {})) context.unsupported("numbers");
  return std::make_unique<ShrinkKernel>(context.node.attributes.get_float("bias", 0.0f),
                                        context.node.attributes.get_float("lambd", 0.5f));
}

}  // namespace

extern const OpDef kShrink = unary_op("Shrink", kVersions, prepare);

}  // namespace sardonyx
