// EyeLike: ones on a diagonal of a matrix of the input's shape.
#include <algorithm>

#include "ops/elementwise/convert.h"
#include "ops/op.h"
#include "ops/shape/strided_copy.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {9, "input: T1 -> output: T2 | dtype: int?, k: int = 0 | T1: @numeric bool, T2: @numeric bool"},
    {22,
     "input: T1 -> output: T2 | dtype: int?, k: int = 0 | T1: @numeric13 bool, T2: @numeric13 "
     "bool"},
};

void infer(InferContext& context) {
  const SymShape& x = context.input_shape(0);
  if (x && x->size() != 2) context.fail("the input must have two axes");
  const int64_t number =
      context.node().attributes.get_int("dtype", static_cast<int64_t>(context.input_element(0)));
  const DataType type = is_data_type(number) ? static_cast<DataType>(number) : DataType::kUndefined;
  if (type != DataType::kBool && !visit_numbers(type, [](auto) {})) {
    context.fail("attribute 'dtype' must be bool or a number of 8 bits and more");
  }
  context.set_output(0, type, x);
}

class EyeKernel final : public Kernel {
 public:
  EyeKernel(int64_t k, DataType type) : k_(k) {
    const int64_t one = 1;
    convert_elements(DataType::kInt64, &one, type, one_, 0, 1, {}).throw_if_failed();
  }

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& shape = context.output_shape(0);
    plan.split(shape[0], 3.0 + 0.1 * static_cast<double>(shape[1]));
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const TensorView& out = context.output(0);
    const int64_t width = out.shape[1];
    const int64_t k = std::clamp(k_, -out.shape[0], width);
    const Range part = context.part(out.shape[0]);
    visit_width(out.type, [&]<typename T>(TypeTag<T>) {
      for (int64_t row = part.begin; row < part.end; ++row) {
        std::fill_n(out.as<T>() + row * width, width, T());
        const int64_t column = row + k;
        if (column < 0 || column >= width) continue;
        copy_elements(out.type, one_, 0, out.data, row * width + column, 1);
      }
    });
    return Status::ok();
  }

 private:
  int64_t k_;
  alignas(16) unsigned char one_[16] = {};
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<EyeKernel>(context.node.attributes.get_int("k", 0),
                                     context.output_element(0));
}

}  // namespace

extern const OpDef kEyeLike = {
    .domain = "",
    .name = "EyeLike",
    .versions = kVersions,
    .traits = kShapeOnly,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
