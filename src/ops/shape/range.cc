// Range: start, start + delta, ... up to limit, which is not included.
#include <fmt/format.h>

#include <cmath>

#include "ops/elementwise/convert.h"
#include "ops/elementwise/loop.h"
#include "ops/op.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {11, "start: T, limit: T, delta: T -> output: T | | T: float double int16 int32 int64"},
    {27,
     "start: T, limit: T, delta: T -> output: T | stash_type: int = 1 | T: @float int16 int32 "
     "int64"},
};

int64_t count_integers(int64_t start, int64_t limit, int64_t delta) {
  // Differences as unsigned numbers do not overflow.
  const auto a = static_cast<uint64_t>(start), b = static_cast<uint64_t>(limit);
  if (delta > 0) {
    if (limit <= start) return 0;
    return static_cast<int64_t>((b - a - 1) / static_cast<uint64_t>(delta) + 1);
  }
  if (limit >= start) return 0;
  return static_cast<int64_t>((a - b - 1) / (0 - static_cast<uint64_t>(delta)) + 1);
}

// The difference is rounded to the type that is computed in, the quotient is not: 0 to 1 by 0.1f
// are 10.
template <typename C>
double count_floats(C start, C limit, C delta) {
  return std::ceil(static_cast<double>(static_cast<C>(limit - start)) / static_cast<double>(delta));
}

// Number of elements when all three inputs are known.
Dim known_count(const InferContext& context) {
  const DataType type = context.input_element(0);
  const Tensor* inputs[3];
  for (size_t i = 0; i < 3; ++i) {
    inputs[i] = context.input_constant(i);
    if (inputs[i] == nullptr) return Dim::unknown();
    if (inputs[i]->size() != 1) context.fail("start, limit and delta must be scalars");
  }
  if (is_integer(type)) {
    int64_t values[3];
    for (size_t i = 0; i < 3; ++i) load_int64(type, inputs[i]->raw(), 0, 1, &values[i]);
    if (values[2] == 0) context.fail("delta is 0");
    return Dim(count_integers(values[0], values[1], values[2]));
  }
  double values[3];
  for (size_t i = 0; i < 3; ++i) load_double(type, inputs[i]->raw(), 0, 1, &values[i]);
  if (values[2] == 0) context.fail("delta is 0");
  const double count = type == DataType::kDouble ? count_floats(values[0], values[1], values[2])
                                                 : count_floats(static_cast<float>(values[0]),
                                                                static_cast<float>(values[1]),
                                                                static_cast<float>(values[2]));
  if (!(count < 1e15)) context.fail("the range has no end");
  return Dim(count > 0 ? static_cast<int64_t>(count) : 0);
}

void infer(InferContext& context) {
  const DataType element = context.input_element(0);
  DimTable& dims = context.dims();
  Dim count = known_count(context);
  const std::optional<Dims> start = context.input_ints(0);
  const std::optional<Dims> limit = context.input_ints(1);
  const std::optional<Dims> delta = context.input_ints(2);
  const bool scalars =
      start && limit && delta && start->size() == 1 && limit->size() == 1 && delta->size() == 1;
  if (scalars && !count.is_known() && (*delta)[0].is_known() && (*delta)[0].value > 0) {
    // An expression stands for a size, which does not lie before the start.
    count = dims.ceil_div(dims.sub((*limit)[0], (*start)[0]), (*delta)[0]);
  }
  context.set_output(0, element, Dims{count});
  if (!scalars || !count.is_known() || count.value > int64_t{kMaxTrackedInts}) return;
  Dims ints;
  for (int64_t i = 0; i < count.value; ++i) {
    ints.push_back(dims.add((*start)[0], dims.mul(Dim(i), (*delta)[0])));
  }
  context.set_output_ints(0, std::move(ints));
}

class RangeKernel final : public Kernel {
 public:
  explicit RangeKernel(const Node& node)
      : rounds_each_step_(node.attributes.get_int("stash_type", 1) != 1) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    plan.split(loop_units(element_count(context.output_shape(0))), 0.5 * kLoopUnit);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const Range part = loop_part(context, context.output(0).size());
    visit_numbers(context.output(0).type, [&]<typename T>(TypeTag<T>) {
      T* out = context.out<T>(0);
      if constexpr (std::is_integral_v<T>) {
        const auto start = static_cast<uint64_t>(context.in<T>(0)[0]);
        const auto delta = static_cast<uint64_t>(context.in<T>(2)[0]);
        for (int64_t i = part.begin; i < part.end; ++i) {
          out[i] = static_cast<T>(start + static_cast<uint64_t>(i) * delta);
        }
      } else {
        const auto start = to_compute(context.in<T>(0)[0]);
        const auto delta = to_compute(context.in<T>(2)[0]);
        for (int64_t i = part.begin; i < part.end; ++i) {
          auto step = static_cast<Compute<T>>(i) * delta;
          if (rounds_each_step_) step = to_compute(from_compute<T>(step));
          out[i] = from_compute<T>(start + step);
        }
      }
    });
    return Status::ok();
  }

 private:
  bool rounds_each_step_;  // of the narrow types
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<RangeKernel>(context.node);
}

}  // namespace

extern const OpDef kRange = {
    .domain = "",
    .name = "Range",
    .versions = kVersions,
    .value_inputs = 0b111,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
