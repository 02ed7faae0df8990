// Activations made of exponentials, and their relatives: Softplus, Softsign, Mish, Elu, Selu, Celu,
// ThresholdedRelu; Round is a row like them.
#include <algorithm>
#include <cmath>

#include "ops/elementwise/unary.h"

namespace sardonyx {
namespace {

using kernels::UnaryOp;

constexpr OpVersion kSoftplusVersions[] = {
    {1, "X: T -> Y: T | | T: @ieee"},
    {22, "X: T -> Y: T | | T: @float"},
};
constexpr OpVersion kSoftsignVersions[] = {
    {1, "input: T -> output: T | | T: @ieee"},
    {22, "input: T -> output: T | | T: @float"},
};
constexpr OpVersion kMishVersions[] = {
    {18, "X: T -> Y: T | | T: @ieee"},
    {22, "X: T -> Y: T | | T: @float"},
};
constexpr OpVersion kEluVersions[] = {
    {1, "X: T -> Y: T | alpha: float = 1, consumed_inputs: ints? | T: @ieee"},
    {6, "X: T -> Y: T | alpha: float = 1 | T: @ieee"},
    {22, "X: T -> Y: T | alpha: float = 1 | T: @float"},
};
constexpr OpVersion kSeluVersions[] = {
    {1,
     "X: T -> Y: T | alpha: float = 1.6732, consumed_inputs: ints?, gamma: float = 1.0507 | T: "
     "@ieee"},
    {6, "X: T -> Y: T | alpha: float = 1.6732632, gamma: float = 1.050701 | T: @ieee"},
    {22, "X: T -> Y: T | alpha: float = 1.6732632, gamma: float = 1.050701 | T: @float"},
};
constexpr OpVersion kCeluVersions[] = {
    {12, "X: T -> Y: T | alpha: float = 1 | T: float"},
    {28, "X: T -> Y: T | alpha: float = 1 | T: @float"},
};
constexpr OpVersion kThresholdedReluVersions[] = {
    {10, "X: T -> Y: T | alpha: float = 1 | T: @ieee"},
    {22, "X: T -> Y: T | alpha: float = 1 | T: @float"},
};
constexpr OpVersion kRoundVersions[] = {
    {11, "X: T -> Y: T | | T: @ieee"},
    {22, "X: T -> Y: T | | T: @float"},
};

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

constexpr UnaryRow kSoftplusRow = {
    UnaryOp::kSoftplus, [](double x, double, double) { return x != x ? x : softplus(x); }, 2.0};
constexpr UnaryRow kSoftsignRow = {
    UnaryOp::kSoftsign, [](double x, double, double) { return x / (1.0 + std::fabs(x)); }, 0.8};
constexpr UnaryRow kMishRow = {
    UnaryOp::kMish,
    [](double x, double, double) { return x != x ? x : x * std::tanh(softplus(x)); }, 2.5};
constexpr UnaryRow kEluRow = {
    UnaryOp::kElu, [](double x, double alpha, double) { return x < 0 ? alpha * std::expm1(x) : x; },
    1.5};
constexpr UnaryRow kSeluRow = {UnaryOp::kSelu,
                               [](double x, double alpha, double gamma) {
                                 return gamma * (x < 0 ? alpha * std::expm1(x) : x);
                               },
                               1.5};
constexpr UnaryRow kCeluRow = {UnaryOp::kCelu,
                               [](double x, double alpha, double) {
                                 const double low = std::min(0.0, alpha * std::expm1(x / alpha));
                                 return x != x ? x : std::max(0.0, x) + low;
                               },
                               1.5};
constexpr UnaryRow kThresholdedReluRow = {
    UnaryOp::kThresholdedRelu,
    [](double x, double alpha, double) { return x > alpha || x != x ? x : 0.0; }, 0.4};
constexpr UnaryRow kRoundRow = {UnaryOp::kRound,
                                [](double x, double, double) { return std::nearbyint(x); }, 0.3};

template <const UnaryRow& kRow>
std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return prepare_unary(context, kRow);
}
template <const UnaryRow& kRow>
std::unique_ptr<Kernel> prepare_alpha(const PrepareContext& context) {
  return prepare_unary(context, kRow, context.node.attributes.get_float("alpha", 1.0f));
}
std::unique_ptr<Kernel> prepare_selu(const PrepareContext& context) {
  const bool first = context.node.version < 6;
  const Attributes& attributes = context.node.attributes;
  return prepare_unary(context, kSeluRow,
                       attributes.get_float("alpha", first ? 1.6732f : 1.6732632f),
                       attributes.get_float("gamma", first ? 1.0507f : 1.050701f));
}

}  // namespace

extern const OpDef kCelu =
    unary_op("Celu", kCeluVersions, prepare_alpha<kCeluRow>, kZeroPreserving);
extern const OpDef kElu = unary_op("Elu", kEluVersions, prepare_alpha<kEluRow>, kZeroPreserving);
extern const OpDef kMish = unary_op("Mish", kMishVersions, prepare<kMishRow>, kZeroPreserving);
extern const OpDef kRound = unary_op("Round", kRoundVersions, prepare<kRoundRow>, kZeroPreserving);
extern const OpDef kSelu = unary_op("Selu", kSeluVersions, prepare_selu, kZeroPreserving);
extern const OpDef kSoftplus = unary_op("Softplus", kSoftplusVersions, prepare<kSoftplusRow>);
extern const OpDef kSoftsign =
    unary_op("Softsign", kSoftsignVersions, prepare<kSoftsignRow>, kZeroPreserving);
// f(0) is 0 whatever alpha is.
extern const OpDef kThresholdedRelu = unary_op("ThresholdedRelu", kThresholdedReluVersions,
                                               prepare_alpha<kThresholdedReluRow>, kZeroPreserving);

}  // namespace sardonyx
