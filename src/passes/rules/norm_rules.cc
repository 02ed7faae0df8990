// Layer and RMS normalisation over the last axes, spelled out with ReduceMean. The core becomes a
// normalisation with a scale of ones; the multiplication and the addition that follow are then
// taken in as scale and bias, by rules of their own. Statistics are computed in float (stash_type
// 1), so double stays as it is.
#include <algorithm>
#include <cmath>

#include "passes/numbers.h"
#include "passes/rules/params.h"
#include "passes/rules/rules.h"

namespace sardonyx::rules {
namespace {

using enum OptimizationLevel;

constexpr Var x{0}, centred{1}, mean{2}, epsilon{3}, norm{4}, scale{5}, bias{6}, average{7};

bool over_last_axes(const Graph& graph, const Node& node) {
  return reduced_from(graph, node).has_value();
}

Pattern mean_of(Pattern p) {
  return op("ReduceMean", {std::move(p)}).with_more_inputs().where(over_last_axes);
}

Pattern square_of(Var v) { return one_of({op("Pow", {v, scalar(2)}), op("Mul", {v, v})}); }

// v / sqrt(mean(v^2) + epsilon)
Pattern over_root_mean_square(Var v) {
  const Pattern root =
      op("Sqrt", {op("Add", {mean_of(square_of(v)).as(average), constant(epsilon)})});
  return one_of({
      op("Div", {v, root}),
      op("Mul", {v, op("Reciprocal", {root})}),
      op("Mul", {v, op("Div", {scalar(1), root})}),
  });
}

Pattern layer_norm_core() {
  const Pattern centre = op("Sub", {x, mean_of(x).as(mean)}).as(centred);
  // The first use binds `centred` to any value, the second says what it must be.
  const Pattern square = one_of({op("Pow", {centre, scalar(2)}), op("Mul", {centre, centred})});
  const Pattern root = op("Sqrt", {op("Add", {mean_of(square).as(average), constant(epsilon)})});
  return one_of({
      op("Div", {centred, root}),
      op("Mul", {centred, op("Reciprocal", {root})}),
      op("Mul", {centred, op("Div", {scalar(1), root})}),
  });
}

// The last dims of x that are normalised; nullopt when one is not known.
std::optional<Shape> normalised_dims(const Match& m) {
  const auto from = reduced_from(m.graph(), m.node(average));
  if (!from || !m.rank(x)) return std::nullopt;
  Shape dims;
  for (size_t i = *m.rank(x) - static_cast<size_t>(-*from); i < *m.rank(x); ++i) {
    const Dim dim = (*m.shape(x))[i];
    if (!dim.is_known()) return std::nullopt;
    dims.push_back(dim.value);
  }
  return dims;
}

const char* check_core(const Match& m) {
  if (!is_float(m.element(x)) || m.element(x) == DataType::kDouble) return "type";
  const auto number = scalar_of(m.constant(epsilon));
  if (!number || !(*number >= 0)) return "epsilon";
  if (m.has(mean) &&
      reduced_from(m.graph(), m.node(mean)) != reduced_from(m.graph(), m.node(average))) {
    return "axes";
  }
  return normalised_dims(m) ? nullptr : "size is not known";
}

ValueId emit_core(Rewrite& r, const Form& form) {
  const Shape dims = *normalised_dims(r);
  const std::vector<double> ones(static_cast<size_t>(element_count(dims)), 1.0);
  Attributes attributes;
  attributes.set("axis", -static_cast<int64_t>(dims.size()));
  attributes.set("epsilon", static_cast<float>(*scalar_of(r.constant(epsilon))));
  return r.emit(form, {r[x], r.floats(r.element(x), dims, ones)}, std::move(attributes));
}

// Does the factor (or addend) vary along the normalised axes only?
bool fits_axes(const Match& m, Var parameter) {
  const int64_t axis = m.node(norm).attributes.get_int("axis", -1);
  const SymShape& shape = m.shape(parameter);
  const SymShape& out = m.shape(norm);
  if (!shape || !out || m.element(parameter) != m.element(norm)) return false;
  const int64_t count = axis < 0 ? -axis : static_cast<int64_t>(out->size()) - axis;
  if (static_cast<int64_t>(shape->size()) != count) return false;
  for (size_t i = 0; i < shape->size(); ++i) {
    if (!proven_equal((*shape)[i], (*out)[out->size() - shape->size() + i])) return false;
  }
  return true;
}

const char* check_scale(const Match& m) {
  const Tensor& old_scale = m.graph().value(m.node(norm).input(1)).constant;
  if (!all_equal(old_scale, 1)) return "has a scale";
  return fits_axes(m, scale) ? nullptr : "shape";
}

ValueId take_scale(Rewrite& r) {
  const Node& node = r.node(norm);
  return r.emit({node.op, node.version}, {r[x], r[scale]}, node.attributes);
}

const char* check_bias(const Match& m) { return fits_axes(m, bias) ? nullptr : "shape"; }

ValueId take_bias(Rewrite& r) {
  const Node& node = r.node(norm);
  return r.emit({node.op, node.version}, {r[x], r[scale], r[bias]}, node.attributes);
}

}  // namespace

std::vector<Rule> norm_rules() {
  return {
      {"layer_norm", layer_norm_core(), check_core,
       [](Rewrite& r) {
         return emit_core(r, {"LayerNormalization", 17});
       },
       kExtended},
      {"rms_norm", over_root_mean_square(x), check_core,
       [](Rewrite& r) {
         return emit_core(r, {"RMSNormalization", 23});
       },
       kExtended},
      {"norm_scale",
       op("Mul", {op("LayerNormalization|RMSNormalization", {x, any()}).as(norm), scale}),
       check_scale, take_scale, kExtended},
      {"layer_norm_bias", op("Add", {op("LayerNormalization", {x, scale}).as(norm), bias}),
       check_bias, take_bias, kExtended},
  };
}

}  // namespace sardonyx::rules
