#include <algorithm>

#include "ops/elementwise/convert.h"
#include "ops/index/lanes.h"
#include "ops/op.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {9,
     "indices: T1, depth: T2, values: T3 -> output: T3 | axis: int = -1 | T1: @numeric, T2: "
     "@numeric, T3: @all1"},
    {11,
     "indices: T1, depth: T2, values: T3 -> output: T3 | axis: int = -1 | T1: @numeric, T2: "
     "@numeric, T3: @all1"},
    {28,
     "indices: T1, depth: T2, values: T3 -> output: T3 | axis: int = -1 | T1: @numeric, T2: "
     "@numeric, T3: @all13"},
};

// One number of any numeric type, truncated.
int64_t number_at(DataType type, const void* data, int64_t i) {
  int64_t number = 0;
  if (is_integer(type)) {
    load_int64(type, data, i, 1, &number);
    return number;
  }
  double value = 0;
  load_double(type, data, i, 1, &value);
  return truncate_saturate<int64_t>(value);
}

Dim depth_of(const InferContext& context) {
  if (const Tensor* depth = context.input_constant(1)) {
    if (depth->size() != 1) context.fail("depth must be a scalar");
    const int64_t number = number_at(depth->type(), depth->raw(), 0);
    if (number < 0) context.fail(fmt::format("depth is {}", number));
    return Dim(number);
  }
  const std::optional<Dims> ints = context.input_ints(1);
  return ints && ints->size() == 1 ? (*ints)[0] : Dim::unknown();
}

void infer(InferContext& context) {
  const DataType element = context.input_element(2);
  if (const auto values = to_shape(context.input_shape(2)); values && element_count(*values) != 2) {
    context.fail("values must be two elements: off and on");
  }
  const SymShape& indices = context.input_shape(0);
  const Dim depth = depth_of(context);
  if (!indices) return context.set_output(0, element, std::nullopt);
  const auto axis = static_cast<size_t>(
      context.normalize_axis(context.node().attributes.get_int("axis", -1), indices->size() + 1));
  Dims output(indices->begin(), indices->begin() + axis);
  output.push_back(depth);
  for (size_t i = axis; i < indices->size(); ++i) output.push_back((*indices)[i]);
  context.set_output(0, element, std::move(output));
}

class OneHotKernel final : public Kernel {
 public:
  explicit OneHotKernel(int64_t axis) : axis_(axis) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto lanes = std::make_shared<Lanes>(lanes_of(context.output_shape(0), axis_));
    plan.split(lanes->outer,
               static_cast<double>(lanes->inner) * (5.0 + 0.3 * static_cast<double>(lanes->size)));
    plan.state = std::move(lanes);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const auto& lanes = context.state_as<Lanes>();
    const TensorView& indices = context.input(0);
    const Range part = context.part(lanes.outer);
    visit_width(context.output(0).type, [&]<typename T>(TypeTag<T>) {
      const T* values = context.in<T>(2);
      const int64_t block = lanes.size * lanes.inner;
      for (int64_t row = part.begin; row < part.end; ++row) {
        T* out = context.out<T>(0) + row * block;
        std::fill_n(out, block, values[0]);
        for (int64_t i = 0; i < lanes.inner; ++i) {
          int64_t index = number_at(indices.type, indices.data, row * lanes.inner + i);
          if (wrap_index(index, lanes.size)) out[index * lanes.inner + i] = values[1];
        }
      }
    });
    return Status::ok();
  }

 private:
  int64_t axis_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<OneHotKernel>(context.node.attributes.get_int("axis", -1));
}

}  // namespace

extern const OpDef kOneHot = {
    .domain = "",
    .name = "OneHot",
    .versions = kVersions,
    .value_inputs = 0b10,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
