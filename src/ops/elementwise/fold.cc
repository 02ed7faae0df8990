// Min, Max, Sum, Mean: any number of broadcast operands, folded from the left. Min and Max are NaN
// where any operand is.
#include <algorithm>

#include "ops/elementwise/binary.h"

namespace sardonyx {
namespace {

using kernels::BinaryOp;

constexpr OpVersion kMinVersions[] = {
    {1, "data_0: T... -> min: T | consumed_inputs: ints? | T: @ieee"},
    {6, "data_0: T... -> min: T | | T: @ieee"},
    {8, "data_0: T... -> min: T | | T: @ieee"},
    {12, "data_0: T... -> min: T | | T: @numeric"},
    {13, "data_0: T... -> min: T | | T: @numeric13"},
};
constexpr OpVersion kMaxVersions[] = {
    {1, "data_0: T... -> max: T | consumed_inputs: ints? | T: @ieee"},
    {6, "data_0: T... -> max: T | | T: @ieee"},
    {8, "data_0: T... -> max: T | | T: @ieee"},
    {12, "data_0: T... -> max: T | | T: @numeric"},
    {13, "data_0: T... -> max: T | | T: @numeric13"},
};
constexpr OpVersion kSumVersions[] = {
    {1, "data_0: T... -> sum: T | consumed_inputs: ints? | T: @ieee"},
    {6, "data_0: T... -> sum: T | | T: @ieee"},
    {8, "data_0: T... -> sum: T | | T: @ieee"},
    {13, "data_0: T... -> sum: T | | T: @float"},
};
constexpr OpVersion kMeanVersions[] = {
    {1, "data_0: T... -> mean: T | consumed_inputs: ints? | T: @ieee"},
    {6, "data_0: T... -> mean: T | | T: @ieee"},
    {8, "data_0: T... -> mean: T | | T: @ieee"},
    {13, "data_0: T... -> mean: T | | T: @float"},
};

struct MinOp {
  static constexpr BinaryOp kKernel = BinaryOp::kMin;
  static constexpr double kNanoseconds = 0.4;
  static double apply(double a, double b) { return a != a ? a : b != b ? b : std::min(a, b); }
  template <typename T>
  static T apply(T a, T b) {
    return std::min(a, b);
  }
};
struct MaxOp {
  static constexpr BinaryOp kKernel = BinaryOp::kMax;
  static constexpr double kNanoseconds = 0.4;
  static double apply(double a, double b) { return a != a ? a : b != b ? b : std::max(a, b); }
  template <typename T>
  static T apply(T a, T b) {
    return std::max(a, b);
  }
};
struct SumOp {
  static constexpr BinaryOp kKernel = BinaryOp::kAdd;
  static constexpr double kNanoseconds = 0.4;
  static double apply(double a, double b) { return a + b; }
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};

template <typename Op>
std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return make_fold_kernel(arithmetic_code<Op>(context));
}

struct DivideOp {
  static constexpr BinaryOp kKernel = BinaryOp::kDiv;
  static constexpr double kNanoseconds = 0.8;
  static double apply(double a, double b) { return a / b; }
  template <typename T>
  static T apply(T a, T) {
    return a;  // Mean has no integers
  }
};

std::unique_ptr<Kernel> prepare_mean(const PrepareContext& context) {
  return make_mean_kernel(arithmetic_code<SumOp>(context), arithmetic_code<DivideOp>(context));
}

template <auto kRule>
void infer(InferContext& context) {
  infer_fold(context, kRule);
}
Dim least(DimTable& dims, Dim a, Dim b) { return dims.min(a, b); }
Dim greatest(DimTable& dims, Dim a, Dim b) { return dims.max(a, b); }
Dim sum(DimTable& dims, Dim a, Dim b) { return dims.add(a, b); }

}  // namespace

extern const OpDef kMax = {
    .domain = "",
    .name = "Max",
    .versions = kMaxVersions,
    .traits = kElementwise | kCommutative | kZeroPreserving,
    .in_place = 0b1,
    .infer = infer<greatest>,
    .prepare = prepare<MaxOp>,
};
extern const OpDef kMean = {
    .domain = "",
    .name = "Mean",
    .versions = kMeanVersions,
    .traits = kElementwise | kCommutative | kZeroPreserving,
    .in_place = 0b1,
    .infer = infer<nullptr>,
    .prepare = prepare_mean,
};
extern const OpDef kMin = {
    .domain = "",
    .name = "Min",
    .versions = kMinVersions,
    .traits = kElementwise | kCommutative | kZeroPreserving,
    .in_place = 0b1,
    .infer = infer<least>,
    .prepare = prepare<MinOp>,
};
extern const OpDef kSum = {
    .domain = "",
    .name = "Sum",
    .versions = kSumVersions,
    .traits = kElementwise | kCommutative | kZeroPreserving,
    .in_place = 0b1,
    .infer = infer<sum>,
    .prepare = prepare<SumOp>,
};

}  // namespace sardonyx
