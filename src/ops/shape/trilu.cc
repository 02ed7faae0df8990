// Trilu: the upper or lower triangle of the last two axes, zero elsewhere.
#include <algorithm>

#include "ops/op.h"
#include "ops/shape/strided_copy.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {14, "input: T, k: int64? -> output: T | upper: int = 1 | T: @all13"},
};

void infer(InferContext& context) {
  const SymShape& x = context.input_shape(0);
  if (x && x->size() < 2) context.fail("the input must have at least two axes");
  context.same_as_input(0);
}

class TriluKernel final : public Kernel {
 public:
  explicit TriluKernel(bool upper) : upper_(upper) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& shape = context.input_shape(0);
    const double row = copy_nanoseconds(context.input_type(0)) / static_cast<double>(kCopyUnit) *
                       static_cast<double>(shape.back());
    plan.split(element_count(shape, 0, shape.size() - 1), 3.0 + row);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const TensorView& in = context.input(0);
    const int64_t height = in.shape[in.shape.size() - 2];
    const int64_t width = in.shape.back();
    const int64_t k =
        context.has_input(1) ? std::clamp(context.in<int64_t>(1)[0], -height - 1, width + 1) : 0;
    const Range part = context.part(element_count(in.shape, 0, in.shape.size() - 1));
    visit_width(in.type, [&]<typename T>(TypeTag<T>) {
      for (int64_t row = part.begin; row < part.end; ++row) {
        const T* from = in.as<T>() + row * width;
        T* to = context.out<T>(0) + row * width;
        // The first column of the upper triangle; the lower one ends behind the diagonal.
        const int64_t cut = std::clamp<int64_t>(row % height + k + (upper_ ? 0 : 1), 0, width);
        if (upper_) {
          std::fill_n(to, cut, T());
          std::copy_n(from + cut, width - cut, to + cut);
        } else {
          std::copy_n(from, cut, to);
          std::fill_n(to + cut, width - cut, T());
        }
      }
    });
    return Status::ok();
  }

 private:
  bool upper_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<TriluKernel>(context.node.attributes.get_int("upper", 1) != 0);
}

}  // namespace

extern const OpDef kTrilu = {
    .domain = "",
    .name = "Trilu",
    .versions = kVersions,
    .traits = kZeroPreserving,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
