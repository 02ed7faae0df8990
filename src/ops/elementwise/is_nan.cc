// IsNaN and IsInf: floating values, however narrow, to bool.
#include <algorithm>
#include <cmath>

#include "ops/elementwise/convert.h"
#include "ops/elementwise/loop.h"
#include "ops/op.h"

namespace sardonyx {
namespace {

constexpr OpVersion kNanVersions[] = {
    {9, "X: T1 -> Y: T2 | | T1: @ieee, T2: bool"},
    {13, "X: T1 -> Y: T2 | | T1: @float, T2: bool"},
    {20, "X: T1 -> Y: T2 | | T1: @float @float8, T2: bool"},
};
constexpr OpVersion kInfVersions[] = {
    {10,
     "X: T1 -> Y: T2 | detect_negative: int = 1, detect_positive: int = 1 | T1: float double, T2: "
     "bool"},
    {20,
     "X: T1 -> Y: T2 | detect_negative: int = 1, detect_positive: int = 1 | T1: @float @float8, "
     "T2: bool"},
};

struct Wanted {
  bool nan = false;
  bool minus = false;
  bool plus = false;

  bool operator()(double x) const { return x != x ? nan : std::isinf(x) && (x < 0 ? minus : plus); }
};

class TestKernel final : public Kernel {
 public:
  explicit TestKernel(Wanted wanted) : wanted_(wanted) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    plan.split(loop_units(element_count(context.input_shape(0))), 1.5 * kLoopUnit);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const TensorView& in = context.input(0);
    const Range part = loop_part(context, in.size());
    bool* out = context.out<bool>(0);
    for (int64_t at = part.begin; at < part.end; at += kBlock) {
      const int64_t n = std::min(kBlock, part.end - at);
      double values[kBlock];
      load_double(in.type, in.data, at, n, values);
      for (int64_t i = 0; i < n; ++i) out[at + i] = wanted_(values[i]);
    }
    return Status::ok();
  }

 private:
  static constexpr int64_t kBlock = 256;
  Wanted wanted_;
};

void infer(InferContext& context) {
  context.set_output(0, DataType::kBool, context.input_shape(0));
}

std::unique_ptr<Kernel> prepare_nan(const PrepareContext&) {
  return std::make_unique<TestKernel>(Wanted{.nan = true});
}
std::unique_ptr<Kernel> prepare_inf(const PrepareContext& context) {
  Wanted wanted;
  wanted.minus = context.node.attributes.get_int("detect_negative", 1) != 0;
  wanted.plus = context.node.attributes.get_int("detect_positive", 1) != 0;
  return std::make_unique<TestKernel>(wanted);
}

}  // namespace

extern const OpDef kIsInf = {
    .domain = "",
    .name = "IsInf",
    .versions = kInfVersions,
    .traits = kElementwise | kZeroPreserving,
    .infer = infer,
    .prepare = prepare_inf,
};
extern const OpDef kIsNaN = {
    .domain = "",
    .name = "IsNaN",
    .versions = kNanVersions,
    .traits = kElementwise | kZeroPreserving,
    .infer = infer,
    .prepare = prepare_nan,
};

}  // namespace sardonyx
