// Relu, Neg, Abs and Sign: on floating types by the float kernels, on integers exactly. Neg and Abs
// of the smallest value of a signed type give that value.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "ops/elementwise/unary.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

using kernels::UnaryOp;

constexpr OpVersion kReluVersions[] = {
    {1, "X: T -> Y: T | consumed_inputs: ints? | T: @ieee"},
    {6, "X: T -> Y: T | | T: @ieee"},
    {13, "X: T -> Y: T | | T: @float"},
    {14, "X: T -> Y: T | | T: @float @signed"},
};
constexpr OpVersion kNegVersions[] = {
    {1, "X: T -> Y: T | consumed_inputs: ints? | T: @ieee"},
    {6, "X: T -> Y: T | | T: @signed @ieee"},
    {13, "X: T -> Y: T | | T: @float @signed"},
};
constexpr OpVersion kAbsVersions[] = {
    {1, "X: T -> Y: T | consumed_inputs: ints? | T: @ieee"},
    {6, "X: T -> Y: T | | T: @numeric"},
    {13, "X: T -> Y: T | | T: @numeric13"},
};
constexpr OpVersion kSignVersions[] = {
    {9, "input: T -> output: T | | T: @numeric"},
    {13, "input: T -> output: T | | T: @numeric13"},
};

struct ReluOp {
  static constexpr UnaryRow kRow = {UnaryOp::kRelu,
                                    [](double x, double, double) { return x < 0 ? 0.0 : x; }, 0.3};
  template <typename T>
  static T apply(T x) {
    return std::max(x, T{0});
  }
};
struct NegOp {
  static constexpr UnaryRow kRow = {UnaryOp::kNeg, [](double x, double, double) { return -x; },
                                    0.3};
  template <typename T>
  static T apply(T x) {
    return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
  }
};
struct AbsOp {
  static constexpr UnaryRow kRow = {UnaryOp::kAbs,
                                    [](double x, double, double) { return std::fabs(x); }, 0.3};
  template <typename T>
  static T apply(T x) {
    if constexpr (std::is_signed_v<T>) return x < 0 ? NegOp::apply(x) : x;
    return x;
  }
};
struct SignOp {
  static constexpr UnaryRow kRow = {
      UnaryOp::kSign, [](double x, double, double) { return x > 0   ? 1.0
                                                            : x < 0 ? -1.0
                                                                    : x; }, 0.4};
  template <typename T>
  static T apply(T x) {
    if constexpr (std::is_signed_v<T>) return static_cast<T>((x > 0) - (x < 0));
    return x != 0;
  }
};

template <typename Op, typename T>
void integer_loop(const void* in, void* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    static_cast<T*>(out)[i] = Op::template apply<T>(static_cast<const T*>(in)[i]);
  }
}

template <typename Op>
std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  std::unique_ptr<Kernel> kernel;
  visit_integers(context.input_element(0), [&]<typename T>(TypeTag<T>) {
    kernel = make_unary_kernel(integer_loop<Op, T>, sizeof(T), 0.3);
  });
  return kernel ? std::move(kernel) : prepare_unary(context, Op::kRow);
}

void infer_neg(InferContext& context) {
  context.same_as_input(0);
  if (auto ints = context.input_ints(0)) {
    for (Dim& dim : *ints) dim = context.dims().sub(Dim(0), dim);
    context.set_output_ints(0, *ints);
  }
}

}  // namespace

extern const OpDef kRelu = {
    .domain = "",
    .name = "Relu",
    .versions = kReluVersions,
    .traits = kElementwise | kZeroPreserving,
    .in_place = 0b1,
    .infer = infer_unary,
    .prepare = prepare<ReluOp>,
};
extern const OpDef kNeg = {
    .domain = "",
    .name = "Neg",
    .versions = kNegVersions,
    .traits = kElementwise | kZeroPreserving,
    .in_place = 0b1,
    .infer = infer_neg,
    .prepare = prepare<NegOp>,
};
extern const OpDef kAbs = {
    .domain = "",
    .name = "Abs",
    .versions = kAbsVersions,
    .traits = kElementwise | kZeroPreserving,
    .in_place = 0b1,
    .infer = infer_unary,
    .prepare = prepare<AbsOp>,
};
extern const OpDef kSign = unary_op("Sign", kSignVersions, prepare<SignOp>, kZeroPreserving);

}  // namespace sardonyx
