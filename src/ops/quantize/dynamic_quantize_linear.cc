// DynamicQuantizeLinear: x as uint8, with the scale and the zero point that cover its range and 0.
// NaN is no part of the range and becomes the zero point. Where all of x is 0 the scale is 1.
#include <algorithm>
#include <cmath>

#include "kernels/quantize/quantize.h"
#include "ops/elementwise/loop.h"
#include "ops/op.h"

namespace sardonyx {
namespace {

void infer(InferContext& context) {
  context.set_output(0, DataType::kUint8, context.input_shape(0));
  context.set_output(1, DataType::kFloat, SymShape(Dims()));
  context.set_output(2, DataType::kUint8, SymShape(Dims()));
}

struct Extremes {
  float low = 0, high = 0;
};

// First the extremes of each chunk, then the elements.
class DynamicQuantizeKernel final : public Kernel {
 public:
  explicit DynamicQuantizeKernel(Isa isa) : kernels_(kernels::quantize_kernels(isa)) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const int64_t units = loop_units(element_count(context.input_shape(0)));
    plan.phases = 2;
    plan.split(0, units, 0.1 * kLoopUnit);
    plan.split(1, units, 0.3 * kLoopUnit);
    plan.scratch_bytes = plan.chunks[0] * int64_t{sizeof(Extremes)};
    plan.state = std::make_shared<int>(plan.chunks[0]);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto* x = context.in<float>(0);
    const Range part = loop_part(context, context.input(0).size());
    auto* extremes = reinterpret_cast<Extremes*>(context.scratch);
    if (context.phase == 0) {
      Extremes own;
      kernels_.min_max(x + part.begin, part.end - part.begin, &own.low, &own.high);
      extremes[context.chunk] = own;
      return Status::ok();
    }
    Extremes all;
    for (int i = 0; i < context.state_as<int>(); ++i) {
      all.low = std::min(all.low, extremes[i].low);
      all.high = std::max(all.high, extremes[i].high);
    }
    const float scale = all.low == all.high ? 1.0f : (all.high - all.low) / 255.0f;
    // Infinite extremes give NaN: the zero point is 0 then.
    const float exact = 0.0f - all.low / scale;
    const float zero = exact == exact ? std::nearbyint(std::clamp(exact, 0.0f, 255.0f)) : 0.0f;
    if (context.has_output(0)) {
      kernels_.quantize(x + part.begin, part.end - part.begin, {&scale, &zero, 0, false},
                        context.out<uint8_t>(0) + part.begin);
    }
    if (context.chunk != 0) return Status::ok();
    if (context.has_output(1)) *context.out<float>(1) = scale;
    if (context.has_output(2)) *context.out<uint8_t>(2) = static_cast<uint8_t>(zero);
    return Status::ok();
  }

 private:
  const kernels::QuantizeKernels& kernels_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<DynamicQuantizeKernel>(context.isa);
}

constexpr OpVersion kVersions[] = {
    {11, "x: T1 -> y: T2, y_scale: float, y_zero_point: T2 | | T1: float, T2: uint8"},
};

}  // namespace

extern const OpDef kDynamicQuantizeLinear = {.domain = "",
                                             .name = "DynamicQuantizeLinear",
                                             .versions = kVersions,
                                             .infer = infer,
                                             .prepare = prepare};

}  // namespace sardonyx
