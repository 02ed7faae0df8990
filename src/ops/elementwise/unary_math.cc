// Elementary functions of one operand on floating types: one row each.
#include <cmath>

#include "ops/elementwise/unary.h"

namespace sardonyx {
namespace {

using kernels::UnaryOp;

constexpr OpVersion kVersionsXy[] = {
    {1, "X: T -> Y: T | consumed_inputs: ints? | T: @ieee"},
    {6, "X: T -> Y: T | | T: @ieee"},
    {13, "X: T -> Y: T | | T: @float"},
};
constexpr OpVersion kVersionsInputOutput[] = {
    {1, "input: T -> output: T | consumed_inputs: ints? | T: @ieee"},
    {6, "input: T -> output: T | | T: @ieee"},
    {13, "input: T -> output: T | | T: @float"},
};

constexpr UnaryRow kSqrtRow = {UnaryOp::kSqrt,
                               [](double x, double, double) { return std::sqrt(x); }, 0.6};
constexpr UnaryRow kTanhRow = {UnaryOp::kTanh,
                               [](double x, double, double) { return std::tanh(x); }, 1.5};
constexpr UnaryRow kExpRow = {UnaryOp::kExp, [](double x, double, double) { return std::exp(x); },
                              1.0};
constexpr UnaryRow kLogRow = {UnaryOp::kLog, [](double x, double, double) { return std::log(x); },
                              1.2};
constexpr UnaryRow kReciprocalRow = {UnaryOp::kReciprocal,
                                     [](double x, double, double) { return 1.0 / x; }, 0.6};
constexpr UnaryRow kFloorRow = {UnaryOp::kFloor,
                                [](double x, double, double) { return std::floor(x); }, 0.3};
constexpr UnaryRow kCeilRow = {UnaryOp::kCeil,
                               [](double x, double, double) { return std::ceil(x); }, 0.3};
constexpr UnaryRow kSigmoidRow = {UnaryOp::kSigmoid,
                                  [](double x, double, double) {
                                    const double e = std::exp(-std::fabs(x));  // never overflows
                                    return x >= 0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
                                  },
                                  1.5};

template <const UnaryRow& kRow>
std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return prepare_unary(context, kRow);
}

}  // namespace

extern const OpDef kCeil = unary_op("Ceil", kVersionsXy, prepare<kCeilRow>, kZeroPreserving);
extern const OpDef kExp = unary_op("Exp", kVersionsInputOutput, prepare<kExpRow>);
extern const OpDef kFloor = unary_op("Floor", kVersionsXy, prepare<kFloorRow>, kZeroPreserving);
extern const OpDef kLog = unary_op("Log", kVersionsInputOutput, prepare<kLogRow>);
extern const OpDef kReciprocal = unary_op("Reciprocal", kVersionsXy, prepare<kReciprocalRow>);
extern const OpDef kSigmoid = unary_op("Sigmoid", kVersionsXy, prepare<kSigmoidRow>);
extern const OpDef kSqrt = unary_op("Sqrt", kVersionsXy, prepare<kSqrtRow>, kZeroPreserving);
extern const OpDef kTanh =
    unary_op("Tanh", kVersionsInputOutput, prepare<kTanhRow>, kZeroPreserving);

}  // namespace sardonyx
