// NonZero: the coordinates of the elements that are not zero, one row for each axis. A scalar has
// none.
#include "ops/op.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {9, "X: T -> Y: int64 | | T: @all1"},
    {13, "X: T -> Y: int64 | | T: @all13"},
};

void infer(InferContext& context) {
  const SymShape& x = context.input_shape(0);
  const Dim rank = x ? Dim(static_cast<int64_t>(x->size())) : Dim::unknown();
  context.set_output(0, DataType::kInt64, Dims{rank, Dim::unknown()});
}

// Calls body(i) for the elements that are not zero, in order.
template <typename Body>
void for_each_non_zero(const TensorView& x, Body&& body) {
  const int64_t n = x.size();
  const auto numbers = [&](const auto* data, int64_t parts) {
    for (int64_t i = 0; i < n; ++i) {
      bool some = false;
      for (int64_t k = 0; k < parts; ++k) some = some || data[i * parts + k] != 0;
      if (some) body(i);
    }
  };
  if (x.type == DataType::kComplex64) return numbers(x.as<float>(), 2);
  if (x.type == DataType::kComplex128) return numbers(x.as<double>(), 2);
  if (x.type == DataType::kBool) return numbers(x.as<uint8_t>(), 1);
  if (x.type == DataType::kString) {
    for (int64_t i = 0; i < n; ++i) {
      if (!x.as<std::string>()[i].empty()) body(i);
    }
    return;
  }
  visit_numbers(x.type, [&]<typename T>(TypeTag<T>) { numbers(x.as<T>(), 1); });
}

class NonZeroKernel final : public Kernel {
 public:
  Status run(const RunContext& context) const override {
    const TensorView& x = context.input(0);
    int64_t count = 0;
    for_each_non_zero(x, [&](int64_t) { ++count; });
    const auto rank = static_cast<int64_t>(x.shape.size());
    SDX_RETURN_IF_FAILED(context.allocate_output(0, Shape{rank, count}));
    int64_t at = 0;
    for_each_non_zero(x, [&](int64_t i) {
      for (size_t axis = x.shape.size(); axis-- > 0;) {
        context.out<int64_t>(0)[static_cast<int64_t>(axis) * count + at] = i % x.shape[axis];
        i /= x.shape[axis];
      }
      ++at;
    });
    return Status::ok();
  }
};

std::unique_ptr<Kernel> prepare(const PrepareContext&) { return std::make_unique<NonZeroKernel>(); }

}  // namespace

extern const OpDef kNonZero = {
    .domain = "",
    .name = "NonZero",
    .versions = kVersions,
    .traits = kDataDependentShape,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
