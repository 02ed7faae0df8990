// Data movement: chains of Transpose and of Reshape-like nodes, shapes that are known in all but
// one place.
#include "passes/rules/params.h"
#include "passes/rules/rules.h"

namespace sardonyx::rules {
namespace {

constexpr Var x{0}, inner{1}, shape{2};
constexpr const char* kReshapes = "Reshape|Squeeze|Unsqueeze|Flatten";

std::vector<int64_t> perm_of(const Node& node, size_t rank) {
  std::vector<int64_t> perm = node.attributes.get_ints("perm");
  if (perm.empty()) {
    for (size_t i = 0; i < rank; ++i) perm.push_back(static_cast<int64_t>(rank - 1 - i));
  }
  return perm;
}

bool is_permutation(const std::vector<int64_t>& perm, size_t rank) {
  std::vector<bool> seen(rank, false);
  for (int64_t axis : perm) {
    if (axis < 0 || axis >= static_cast<int64_t>(rank) || seen[static_cast<size_t>(axis)]) {
      return false;
    }
    seen[static_cast<size_t>(axis)] = true;
  }
  return perm.size() == rank;
}

const char* check_perms(const Match& m) {
  if (!m.rank(x)) return "unknown rank";
  const size_t rank = *m.rank(x);
  const bool valid = is_permutation(perm_of(m.node(inner), rank), rank) &&
                     is_permutation(perm_of(m.root(), rank), rank);
  return valid ? nullptr : "no permutation";
}

ValueId merge_transposes(Rewrite& r) {
  const std::vector<int64_t> first = perm_of(r.node(inner), *r.rank(x));
  std::vector<int64_t> merged;
  for (int64_t axis : perm_of(r.root(), *r.rank(x))) {
    merged.push_back(first[static_cast<size_t>(axis)]);
  }
  Attributes attributes;
  attributes.set("perm", merged);
  return r.emit({"Transpose", 1}, {r[x]}, std::move(attributes));
}

// What to ask of Reshape to get `to` from `from`: numbers, 0 for a dimension that stays, -1 for
// one that is not known. A zero-sized dimension would make -1 ambiguous, so -1 goes only with
// numbers.
std::optional<std::vector<int64_t>> reshape_target(const SymShape& from, const SymShape& to) {
  if (!to) return std::nullopt;
  std::vector<int64_t> target;
  size_t copied = 0;
  size_t open = 0;
  for (size_t i = 0; i < to->size(); ++i) {
    const Dim dim = (*to)[i];
    if (dim.is(0)) return std::nullopt;
    if (dim.is_known()) {
      target.push_back(dim.value);
    } else if (from && i < from->size() && proven_equal(dim, (*from)[i])) {
      target.push_back(0);
      ++copied;
    } else {
      target.push_back(-1);
      ++open;
    }
  }
  if (open > 1 || (open == 1 && copied > 0)) return std::nullopt;
  return target;
}

ValueId reshape_x(Rewrite& r) {
  const SymShape& to = r.graph().value(r.root().output(0)).type.shape;
  const auto target = reshape_target(r.shape(x), to);
  if (!target) return r.reject("shape not static");
  return r.emit({"Reshape", 5}, {r[x], r.ints(*target)});
}

const char* shape_is_computed(const Match& m) {
  return m.value(shape).is_constant() ? "already constant" : nullptr;
}

}  // namespace

std::vector<Rule> shape_rules() {
  return {
      {"transpose_chain", op("Transpose", {op("Transpose", {x}).as(inner).shared()}), check_perms,
       merge_transposes},
      {"reshape_chain",
       op(kReshapes, {op(kReshapes, {x}).with_more_inputs().shared()}).with_more_inputs(), nullptr,
       reshape_x},
      {"reshape_static", op("Reshape", {x, shape}), shape_is_computed, reshape_x},
      {"shape_of_cast", op("Shape", {op("Cast", {x}).shared()}), nullptr,
       [](Rewrite& r) {
         return r.emit({"Shape", r.root().version}, {r[x]}, r.root().attributes);
       }},
  };
}

}  // namespace sardonyx::rules
