// Activations that exporters spell out with simpler operators.
#include <cmath>

#include "passes/numbers.h"
#include "passes/rules/params.h"
#include "passes/rules/rules.h"

namespace sardonyx::rules {
namespace {

using enum OptimizationLevel;

constexpr Var x{0}, high{1}, divisor{2}, offset{3}, factor{4}, slope{5};

const char* x_is_float(const Match& m) { return is_float(m.element(x)) ? nullptr : "type"; }

// --- HardSigmoid: max(0, min(1, alpha * x + beta)) ---

// Clip(x + offset, 0, high), the limits read by the guard.
Pattern clipped() {
  return op("Clip", {op("Add", {x, constant(offset)})}).with_more_inputs().as(high);
}

// The factor that scales [0, high] to [0, 1] must be 1 / high.
bool scales_to_one(const Match& m, double scale) {
  const auto limits = clip_limits(m.graph(), m.node(high));
  return limits && limits->first == 0 && limits->second > 0 && std::isfinite(limits->second) &&
         std::abs(limits->second * scale - 1.0) < 1e-3;
}

const char* check_hard_sigmoid(const Match& m) {
  if (const char* reason = x_is_float(m)) return reason;
  const auto number = scalar_of(m.constant(divisor));
  if (!number || !scalar_of(m.constant(offset))) return "not a scalar";
  const bool is_division = m.root().op == "Div";
  return scales_to_one(m, is_division ? 1.0 / *number : *number) ? nullptr : "other constants";
}

ValueId hard_sigmoid(Rewrite& r, double alpha, double beta) {
  Attributes attributes;
  attributes.set("alpha", static_cast<float>(alpha));
  attributes.set("beta", static_cast<float>(beta));
  return r.emit({"HardSigmoid", 6}, {r[x]}, std::move(attributes));
}

ValueId build_hard_sigmoid(Rewrite& r) {
  const double alpha = 1.0 / clip_limits(r.graph(), r.node(high))->second;
  return hard_sigmoid(r, alpha, *scalar_of(r.constant(offset)) * alpha);
}

// Clip(x * factor + offset, 0, 1).
const char* check_scaled(const Match& m) {
  if (const char* reason = x_is_float(m)) return reason;
  return scalar_of(m.constant(factor)) && scalar_of(m.constant(offset)) ? nullptr : "not a scalar";
}

ValueId build_scaled_mul(Rewrite& r) {
  return hard_sigmoid(r, *scalar_of(r.constant(factor)), *scalar_of(r.constant(offset)));
}

ValueId build_scaled_div(Rewrite& r) {
  return hard_sigmoid(r, 1.0 / *scalar_of(r.constant(factor)), *scalar_of(r.constant(offset)));
}

// --- HardSwish: x * HardSigmoid(x, 1/6, 1/2) ---

Pattern relu6_of_x_plus_3() { return clip(op("Add", {x, scalar(3)}), 0, 6); }

Pattern sixth(const Pattern& p) {
  return one_of({op("Div", {p, scalar(6)}), op("Mul", {p, scalar(1.0 / 6, 1e-3)})});
}

Pattern hard_swish_pattern() {
  const Pattern hard = op("HardSigmoid", {x})
                           .where(has_float("alpha", 1.0 / 6, 0.2, 1e-4))
                           .where(has_float("beta", 0.5, 0.5));
  return one_of({
      sixth(op("Mul", {x, relu6_of_x_plus_3()})),
      op("Mul", {x, hard}),
      op("Mul", {x, sixth(relu6_of_x_plus_3())}),
      op("Mul", {sixth(x), relu6_of_x_plus_3()}),
  });
}

// --- Swish: x * Sigmoid(alpha * x) ---

ValueId swish(Rewrite& r, double alpha) {
  Attributes attributes;
  attributes.set("alpha", static_cast<float>(alpha));
  return r.emit({"Swish", 24}, {r[x]}, std::move(attributes));
}

const char* check_quick_gelu(const Match& m) {
  if (const char* reason = x_is_float(m)) return reason;
  return scalar_of(m.constant(factor)) ? nullptr : "not a scalar";
}

const char* slope_is_scalar(const Match& m) {
  if (const char* reason = x_is_float(m)) return reason;
  const bool grows = !m.rank(x) || m.constant(slope).shape().size() > *m.rank(x);
  return scalar_of(m.constant(slope)) && !grows ? nullptr : "not a scalar";
}

ValueId leaky_relu(Rewrite& r) {
  Attributes attributes;
  attributes.set("alpha", static_cast<float>(*scalar_of(r.constant(slope))));
  return r.emit({"LeakyRelu", 6}, {r[x]}, std::move(attributes));
}

}  // namespace

std::vector<Rule> activation_rules() {
  return {
      {"hard_swish", hard_swish_pattern(), x_is_float,
       [](Rewrite& r) {
         return r.emit({"HardSwish", 14}, {r[x]});
       },
       kExtended},
      {"hard_sigmoid", op("Div|Mul", {clipped(), constant(divisor)}), check_hard_sigmoid,
       build_hard_sigmoid, kExtended},
      {"hard_sigmoid_scaled",
       clip(op("Add", {op("Mul", {x, constant(factor)}), constant(offset)}), 0, 1), check_scaled,
       build_scaled_mul, kExtended},
      {"hard_sigmoid_divided",
       clip(op("Add", {op("Div", {x, constant(factor)}), constant(offset)}), 0, 1), check_scaled,
       build_scaled_div, kExtended},
      {"silu", op("Mul", {x, op("Sigmoid", {x})}), x_is_float,
       [](Rewrite& r) { return swish(r, 1.0); }, kExtended},
      {"quick_gelu", op("Mul", {x, op("Sigmoid", {op("Mul", {x, constant(factor)})})}),
       check_quick_gelu, [](Rewrite& r) { return swish(r, *scalar_of(r.constant(factor))); },
       kExtended},
      {"mish", op("Mul", {x, op("Tanh", {op("Softplus", {x})})}), x_is_float,
       [](Rewrite& r) {
         return r.emit({"Mish", 18}, {r[x]});
       },
       kExtended},
      {"prelu_scalar", op("PRelu", {x, constant(slope)}), slope_is_scalar, leaky_relu},
  };
}

}  // namespace sardonyx::rules
