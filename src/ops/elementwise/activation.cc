// Activations of one operand with parameters: LeakyRelu, HardSigmoid, HardSwish, Gelu.
#include <algorithm>
#include <cmath>

#include "ops/elementwise/unary.h"

namespace sardonyx {
namespace {

using kernels::UnaryOp;

constexpr OpVersion kLeakyReluVersions[] = {
    {1, "X: T -> Y: T | alpha: float = 0.01, consumed_inputs: ints? | T: @ieee"},
    {6, "X: T -> Y: T | alpha: float = 0.01 | T: @ieee"},
    {16, "X: T -> Y: T | alpha: float = 0.01 | T: @float"},
};
constexpr OpVersion kHardSigmoidVersions[] = {
    {1, "X: T -> Y: T | alpha: float = 0.2, beta: float = 0.5, consumed_inputs: ints? | T: @ieee"},
    {6, "X: T -> Y: T | alpha: float = 0.2, beta: float = 0.5 | T: @ieee"},
    {22, "X: T -> Y: T | alpha: float = 0.2, beta: float = 0.5 | T: @float"},
};
constexpr OpVersion kHardSwishVersions[] = {
    {14, "X: T -> Y: T | | T: @ieee"},
    {22, "X: T -> Y: T | | T: @float"},
};
constexpr OpVersion kGeluVersions[] = {
    {20, "X: T -> Y: T | approximate: string = 'none' | T: @float"},
};

double hard_sigmoid(double x, double alpha, double beta) {
  const double y = alpha * x + beta;
  return y > 1 ? 1.0 : y < 0 ? 0.0 : y;
}

constexpr UnaryRow kLeakyReluRow = {
    UnaryOp::kLeakyRelu, [](double x, double alpha, double) { return x < 0 ? alpha * x : x; }, 0.4};
constexpr UnaryRow kHardSigmoidRow = {UnaryOp::kHardSigmoid, hard_sigmoid, 0.4};
constexpr UnaryRow kHardSwishRow = {
    UnaryOp::kHardSwish,
    [](double x, double alpha, double beta) { return x * hard_sigmoid(x, alpha, beta); }, 0.5};
constexpr UnaryRow kGeluRow = {
    UnaryOp::kGelu,
    [](double x, double, double) { return 0.5 * x * (1.0 + std::erf(x * std::sqrt(0.5))); }, 2.0};
constexpr UnaryRow kGeluTanhRow = {UnaryOp::kGeluTanh,
                                   [](double x, double, double) {
                                     constexpr double kSqrt2OverPi = 0.79788456080286535588;
                                     const double cubic = x + 0.044715 * x * x * x;
                                     return 0.5 * x * (1.0 + std::tanh(kSqrt2OverPi * cubic));
                                   },
                                   2.0};

std::unique_ptr<Kernel> prepare_leaky_relu(const PrepareContext& context) {
  return prepare_unary(context, kLeakyReluRow, context.node.attributes.get_float("alpha", 0.01f));
}
std::unique_ptr<Kernel> prepare_hard_sigmoid(const PrepareContext& context) {
  return prepare_unary(context, kHardSigmoidRow, context.node.attributes.get_float("alpha", 0.2f),
                       context.node.attributes.get_float("beta", 0.5f));
}
std::unique_ptr<Kernel> prepare_hard_swish(const PrepareContext& context) {
  return prepare_unary(context, kHardSwishRow, 1.0 / 6.0, 0.5);
}

bool is_tanh_gelu(const Node& node) {
  return node.attributes.get_string("approximate", "none") == "tanh";
}
std::unique_ptr<Kernel> prepare_gelu(const PrepareContext& context) {
  return prepare_unary(context, is_tanh_gelu(context.node) ? kGeluTanhRow : kGeluRow);
}
void infer_gelu(InferContext& context) {
  const std::string approximate = context.node().attributes.get_string("approximate", "none");
  if (approximate != "none" && approximate != "tanh") {
    context.fail("attribute 'approximate' is '" + approximate + "', expected 'none' or 'tanh'");
  }
  context.same_as_input(0);
}

}  // namespace

extern const OpDef kLeakyRelu = {
    .domain = "",
    .name = "LeakyRelu",
    .versions = kLeakyReluVersions,
    .traits = kElementwise | kZeroPreserving,
    .in_place = 0b1,
    .infer = infer_unary,
    .prepare = prepare_leaky_relu,
};
extern const OpDef kHardSigmoid = {
    .domain = "",
    .name = "HardSigmoid",
    .versions = kHardSigmoidVersions,
    .traits = kElementwise,
    .in_place = 0b1,
    .infer = infer_unary,
    .prepare = prepare_hard_sigmoid,
};
extern const OpDef kHardSwish = {
    .domain = "",
    .name = "HardSwish",
    .versions = kHardSwishVersions,
    .traits = kElementwise | kZeroPreserving,
    .in_place = 0b1,
    .infer = infer_unary,
    .prepare = prepare_hard_swish,
};
extern const OpDef kGelu = {
    .domain = "",
    .name = "Gelu",
    .versions = kGeluVersions,
    .traits = kElementwise | kZeroPreserving,
    .in_place = 0b1,
    .infer = infer_gelu,
    .prepare = prepare_gelu,
};

}  // namespace sardonyx
