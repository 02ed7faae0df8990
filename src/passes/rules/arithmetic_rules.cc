// Element-wise arithmetic with constants, brought to fewer forms. All are exact, or spare a
// rounding.
#include <algorithm>
#include <cmath>

#include "passes/numbers.h"
#include "passes/rules/params.h"
#include "passes/rules/rules.h"

namespace sardonyx::rules {
namespace {

constexpr Var x{0}, c{1}, y{2};

const char* constant_is_float(const Match& m) {
  return is_float(m.constant(c).type()) ? nullptr : "type";
}

// Division by a power of two is a multiplication without any difference as long as the reciprocal
// is a normal number of the type.
const char* powers_of_two(const Match& m) {
  const auto values = read_floats(m.constant(c));
  if (!values) return "type";
  const int limit = m.constant(c).type() == DataType::kFloat16 ? 13 : 125;
  const bool all = std::all_of(values->begin(), values->end(), [&](double value) {
    int exponent = 0;
    return std::abs(std::frexp(value, &exponent)) == 0.5 && std::abs(exponent) < limit;
  });
  return all ? nullptr : "not a power of two";
}

ValueId div_to_mul(Rewrite& r) {
  std::vector<double> values = *read_floats(r.constant(c));
  for (double& value : values) value = 1.0 / value;
  return r.emit({"Mul", 7}, {r[x], r.floats(r.constant(c).type(), r.constant(c).shape(), values)});
}

ValueId sub_to_add(Rewrite& r) {
  std::vector<double> values = *read_floats(r.constant(c));
  for (double& value : values) value = -value;
  return r.emit({"Add", 7}, {r[x], r.floats(r.constant(c).type(), r.constant(c).shape(), values)});
}

const char* constant_clip(const Match& m) {
  if (!is_float(m.element(x))) return "type";
  return clip_limits(m.graph(), m.root()) ? nullptr : "limits are computed, or not numbers";
}

ValueId clip_of_relu(Rewrite& r) {
  const auto [low, high] = *clip_limits(r.graph(), r.root());
  if (r.root().version < 11) {
    Attributes attributes = r.root().attributes;
    attributes.set("min", static_cast<float>(std::max(low, 0.0)));
    return r.emit({"Clip", 6, "", 11}, {r[x]}, std::move(attributes));
  }
  const ValueId least = r.scalar(r.element(x), std::max(low, 0.0));
  const ValueId most = r.root().input(2);
  return r.emit({"Clip", 11},
                most == ValueId::kNone ? ValueIds{r[x], least} : ValueIds{r[x], least, most});
}

}  // namespace

std::vector<Rule> arithmetic_rules() {
  return {
      {"div_to_mul", op("Div", {x, constant(c)}), powers_of_two, div_to_mul},
      {"sub_to_add", op("Sub", {x, constant(c)}), constant_is_float, sub_to_add},
      {"mul_reciprocal", op("Mul", {op("Div", {scalar(1.0, 0), x}), y}), nullptr,
       [](Rewrite& r) {
         return r.emit({"Div", 7}, {r[y], r[x]});
       }},
      {"relu_clip", op("Clip", {op("Relu", {x})}).with_more_inputs(), constant_clip, clip_of_relu},
  };
}

}  // namespace sardonyx::rules
