// GELU as exporters spell it: x/2 * (1 + erf(x / sqrt 2)) and its approximation by tanh, with the
// factors in every order. Tolerances admit constants that were rounded to float16.
#include "passes/rules/params.h"
#include "passes/rules/rules.h"

namespace sardonyx::rules {
namespace {

using enum OptimizationLevel;

constexpr Var x{0};
constexpr double kTolerance = 5e-4;
constexpr double kRoot2 = 1.4142135623730951;
constexpr double kRoot2OverPi = 0.7978845608028654;
constexpr double kCubic = 0.044715;

Pattern near(double value) { return scalar(value, kTolerance); }

const char* x_is_float(const Match& m) { return is_float(m.element(x)) ? nullptr : "type"; }

// x/2 * factor, in every order.
Pattern half_x_times(const Pattern& factor) {
  return one_of({
      half(op("Mul", {x, factor})),
      op("Mul", {half(x), factor}),
      op("Mul", {x, half(factor)}),
  });
}

Pattern erf_gelu() {
  const Pattern scaled = one_of({op("Div", {x, near(kRoot2)}), op("Mul", {x, near(1 / kRoot2)})});
  return half_x_times(op("Add", {op("Erf", {scaled}), scalar(1)}));
}

Pattern tanh_gelu() {
  const Pattern square = one_of({op("Mul", {x, x}), op("Pow", {x, scalar(2)})});
  const Pattern cube = one_of({op("Pow", {x, scalar(3)}), op("Mul", {x, square})});
  const Pattern cubic =
      one_of({op("Mul", {cube, near(kCubic)}), op("Mul", {x, op("Mul", {square, near(kCubic)})}),
              op("Mul", {square, op("Mul", {x, near(kCubic)})}),
              op("Mul", {x, op("Mul", {x, op("Mul", {x, near(kCubic)})})})});
  const Pattern sum = op("Add", {x, cubic});
  const Pattern factored =
      op("Mul", {x, op("Add", {op("Mul", {square, near(kCubic)}), scalar(1)})});
  const Pattern scaled_x = op("Mul", {x, near(kRoot2OverPi)});
  const Pattern argument = one_of({
      op("Mul", {sum, near(kRoot2OverPi)}),
      op("Mul", {factored, near(kRoot2OverPi)}),
      op("Mul", {scaled_x, op("Add", {op("Mul", {square, near(kCubic)}), scalar(1)})}),
  });
  return half_x_times(op("Add", {op("Tanh", {argument}), scalar(1)}));
}

ValueId gelu(Rewrite& r, const char* approximate) {
  Attributes attributes;
  attributes.set("approximate", std::string(approximate));
  return r.emit({"Gelu", 20}, {r[x]}, std::move(attributes));
}

}  // namespace

std::vector<Rule> gelu_rules() {
  return {
      {"gelu", erf_gelu(), x_is_float, [](Rewrite& r) { return gelu(r, "none"); }, kExtended},
      {"gelu_tanh", tanh_gelu(), x_is_float, [](Rewrite& r) { return gelu(r, "tanh"); }, kExtended},
  };
}

}  // namespace sardonyx::rules
