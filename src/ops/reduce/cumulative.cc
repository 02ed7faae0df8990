// CumSum and CumProd: running sums and products along an axis; float16 and bfloat16 are added up in
// float, integers wrap around.
#include <fmt/format.h>

#include "ops/elementwise/binary.h"
#include "ops/index/lanes.h"

namespace sardonyx {
namespace {

constexpr OpVersion kSumVersions[] = {
    {11,
     "x: T, axis: T2 -> y: T | exclusive: int = 0, reverse: int = 0 | T: @wide float double, T2: "
     "int32 int64"},
    {14,
     "x: T, axis: T2 -> y: T | exclusive: int = 0, reverse: int = 0 | T: @float @wide, T2: int32 "
     "int64"},
};
constexpr OpVersion kProdVersions[] = {
    {26,
     "x: T, axis: T2 -> y: T | exclusive: int = 0, reverse: int = 0 | T: @float @wide, T2: int32 "
     "int64"},
};

struct SumOp {
  static constexpr int kStart = 0;
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    } else {
      return a + b;
    }
  }
};
struct ProdOp {
  static constexpr int kStart = 1;
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    } else {
      return a * b;
    }
  }
};

void infer(InferContext& context) {
  const auto axis = context.input_known_ints(1);
  const SymShape& x = context.input_shape(0);
  if (axis && axis->size() != 1) context.fail("axis must be one number");
  if (axis && x) context.normalize_axis((*axis)[0], x->size());
  context.same_as_input(0);
}

template <typename Op>
class CumulativeKernel final : public Kernel {
 public:
  explicit CumulativeKernel(const Node& node)
      : exclusive_(node.attributes.get_int("exclusive", 0) != 0),
        reverse_(node.attributes.get_int("reverse", 0) != 0) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const int64_t axis = index_at(context.input_values(1), 0);
    auto lanes = std::make_shared<Lanes>(lanes_of(context.input_shape(0), axis));
    plan.split(lanes->count(), 1.5 * static_cast<double>(lanes->size));
    plan.state = std::move(lanes);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const auto& lanes = context.state_as<Lanes>();
    const Range part = context.part(lanes.count());
    visit_numbers(context.input(0).type, [&]<typename T>(TypeTag<T>) {
      for (int64_t lane = part.begin; lane < part.end; ++lane) {
        const int64_t step = reverse_ ? -lanes.inner : lanes.inner;
        int64_t at = lanes.start(lane) + (reverse_ ? (lanes.size - 1) * lanes.inner : 0);
        auto total = static_cast<Compute<T>>(Op::kStart);
        for (int64_t i = 0; i < lanes.size; ++i, at += step) {
          const auto next = Op::apply(total, to_compute(context.in<T>(0)[at]));
          context.out<T>(0)[at] = from_compute<T>(exclusive_ ? total : next);
          total = next;
        }
      }
    });
    return Status::ok();
  }

 private:
  bool exclusive_, reverse_;
};

template <typename Op>
std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<CumulativeKernel<Op>>(context.node);
}

}  // namespace

extern const OpDef kCumProd = {
    .domain = "",
    .name = "CumProd",
    .versions = kProdVersions,
    .value_inputs = 0b10,
    .in_place = 0b1,
    .infer = infer,
    .prepare = prepare<ProdOp>,
};
extern const OpDef kCumSum = {
    .domain = "",
    .name = "CumSum",
    .versions = kSumVersions,
    .traits = kZeroPreserving,
    .value_inputs = 0b10,
    .in_place = 0b1,
    .infer = infer,
    .prepare = prepare<SumOp>,
};

}  // namespace sardonyx
