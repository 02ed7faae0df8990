#include "ops/epilogue.h"

#include <fmt/format.h>

#include <iterator>
#include <string>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

// In the order of kernels::Activation.
constexpr std::string_view kNames[] = {"",          "Relu",    "LeakyRelu", "Clip", "HardSigmoid",
                                       "HardSwish", "Sigmoid", "Silu",      "Tanh", "Gelu",
                                       "GeluTanh"};
static_assert(std::size(kNames) == static_cast<size_t>(kernels::Activation::kGeluTanh) + 1);

}  // namespace

std::string_view activation_name(kernels::Activation activation) {
  return kNames[static_cast<size_t>(activation)];
}

kernels::Epilogue parse_epilogue(const Node& node) {
  const std::string name = node.attributes.get_string("activation", "");
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] != name) continue;
    return {static_cast<kernels::Activation>(i), node.attributes.get_float("alpha", 0.0f),
            node.attributes.get_float("beta", 0.0f)};
  }
  throw Error(ErrorCode::kInvalidGraph,
              fmt::format("{}: unknown activation '{}'", describe(node), name));
}

void set_epilogue(Attributes& attributes, const kernels::Epilogue& epilogue) {
  if (epilogue.activation == kernels::Activation::kNone) return;
  attributes.set("activation", std::string(activation_name(epilogue.activation)));
  attributes.set("alpha", epilogue.alpha);
  attributes.set("beta", epilogue.beta);
}

void check_operand(const InferContext& context, size_t i, const Dims& expected,
                   std::string_view what) {
  if (!context.has_input(i) || !context.input_shape(i)) return;
  const Dims& found = *context.input_shape(i);
  if (found.size() != expected.size()) {
    context.fail(fmt::format("{} has rank {}, expected {}", what, found.size(), expected.size()));
  }
  for (size_t axis = 0; axis < found.size(); ++axis) {
    if (!found[axis].is_known() || !expected[axis].is_known()) continue;
    if (found[axis] == expected[axis]) continue;
    context.fail(fmt::format("{} has {} elements on axis {}, expected {}", what, found[axis].value,
                             axis, expected[axis].value));
  }
}

}  // namespace sardonyx
