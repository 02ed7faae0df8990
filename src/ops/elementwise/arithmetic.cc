// Add, Sub, Mul, Div. Integers wrap around. Integer division truncates; division by zero gives 0
// and the smallest value divided by -1 gives the smallest value, so that no input can trap.
#include "ops/elementwise/binary.h"

namespace sardonyx {
namespace {

using kernels::BinaryOp;

constexpr OpVersion kVersions[] = {
    {1, "A: T, B: T -> C: T | axis: int?, broadcast: int = 0, consumed_inputs: ints? | T: @ieee"},
    {6, "A: T, B: T -> C: T | axis: int?, broadcast: int = 0 | T: @wide @ieee"},
    {7, "A: T, B: T -> C: T | | T: @wide @ieee"},
    {13, "A: T, B: T -> C: T | | T: @float @wide"},
    {14, "A: T, B: T -> C: T | | T: @numeric13"},
};

struct AddOp {
  static constexpr BinaryOp kKernel = BinaryOp::kAdd;
  static constexpr double kNanoseconds = 0.4;
  static double apply(double a, double b) { return a + b; }
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};
struct SubOp {
  static constexpr BinaryOp kKernel = BinaryOp::kSub;
  static constexpr double kNanoseconds = 0.4;
  static double apply(double a, double b) { return a - b; }
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};
struct MulOp {
  static constexpr BinaryOp kKernel = BinaryOp::kMul;
  static constexpr double kNanoseconds = 0.4;
  static double apply(double a, double b) { return a * b; }
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};
struct DivOp {
  static constexpr BinaryOp kKernel = BinaryOp::kDiv;
  static constexpr double kNanoseconds = 0.8;
  static double apply(double a, double b) { return a / b; }
  template <typename T>
  static T apply(T a, T b) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a));
    }
    return static_cast<T>(a / b);
  }
};

template <typename Op>
std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return make_binary_kernel(context.node, arithmetic_code<Op>(context));
}

// Truncating: a quotient of expressions is only told for a positive divisor and a dividend that is
// a dimension (not a difference that may be negative), which sizes are.
Dim divide(DimTable& dims, Dim a, Dim b) {
  if (a.is_known() && b.is_known()) return DivOp::apply(a.value, b.value);
  if (b.is_known() && b.value <= 0) return Dim::unknown();
  return dims.floor_div(a, b);
}

template <auto kRule>
void infer(InferContext& context) {
  infer_binary(context, DataType::kUndefined, kRule);
}
Dim add(DimTable& dims, Dim a, Dim b) { return dims.add(a, b); }
Dim subtract(DimTable& dims, Dim a, Dim b) { return dims.sub(a, b); }
Dim multiply(DimTable& dims, Dim a, Dim b) { return dims.mul(a, b); }

}  // namespace

extern const OpDef kAdd = {
    .domain = "",
    .name = "Add",
    .versions = kVersions,
    .traits = kElementwise | kCommutative | kZeroPreserving,
    .in_place = 0b11,
    .infer = infer<add>,
    .prepare = prepare<AddOp>,
};
extern const OpDef kSub = {
    .domain = "",
    .name = "Sub",
    .versions = kVersions,
    .traits = kElementwise | kZeroPreserving,
    .in_place = 0b11,
    .infer = infer<subtract>,
    .prepare = prepare<SubOp>,
};
extern const OpDef kMul = {
    .domain = "",
    .name = "Mul",
    .versions = kVersions,
    .traits = kElementwise | kCommutative | kZeroPreserving,
    .in_place = 0b11,
    .infer = infer<multiply>,
    .prepare = prepare<MulOp>,
};
extern const OpDef kDiv = {
    .domain = "",
    .name = "Div",
    .versions = kVersions,
    .traits = kElementwise,
    .in_place = 0b11,
    .infer = infer<divide>,
    .prepare = prepare<DivOp>,
};

}  // namespace sardonyx
