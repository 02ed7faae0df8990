#include "passes/pattern.h"

#include <algorithm>
#include <cmath>

#include "passes/numbers.h"

namespace sardonyx::rules {

struct Pattern::Body {
  enum class Kind : uint8_t { kAny, kAbsent, kConstant, kScalar, kOp, kOneOf };

  Kind kind = Kind::kAny;
  std::vector<Var> vars;
  double scalar = 0;
  double tolerance = 0;
  std::vector<std::string> names;
  std::string domain;
  std::vector<Pattern> children;  // inputs of kOp, choices of kOneOf
  std::vector<NodePredicate> predicates;
  bool more_inputs = false;
  bool shared = false;
};

using Kind = Pattern::Body::Kind;

Pattern::Pattern(Var var) {
  auto body = std::make_shared<Body>();
  body->vars.push_back(var);
  body_ = std::move(body);
}

std::shared_ptr<Pattern::Body> Pattern::copy() const { return std::make_shared<Body>(*body_); }

Pattern Pattern::as(Var var) const {
  auto body = copy();
  body->vars.push_back(var);
  return Pattern(std::move(body));
}

Pattern Pattern::with_more_inputs() const {
  auto body = copy();
  body->more_inputs = true;
  return Pattern(std::move(body));
}

Pattern Pattern::shared() const {
  auto body = copy();
  body->shared = true;
  return Pattern(std::move(body));
}

Pattern Pattern::where(NodePredicate predicate) const {
  auto body = copy();
  body->predicates.push_back(std::move(predicate));
  return Pattern(std::move(body));
}

Pattern any() { return Pattern(std::make_shared<Pattern::Body>()); }

Pattern absent() {
  auto body = std::make_shared<Pattern::Body>();
  body->kind = Kind::kAbsent;
  return Pattern(std::move(body));
}

Pattern constant(Var var) {
  auto body = std::make_shared<Pattern::Body>();
  body->kind = Kind::kConstant;
  body->vars.push_back(var);
  return Pattern(std::move(body));
}

Pattern scalar(double value, double tolerance) {
  auto body = std::make_shared<Pattern::Body>();
  body->kind = Kind::kScalar;
  body->scalar = value;
  body->tolerance = tolerance;
  return Pattern(std::move(body));
}

Pattern op(std::string_view names, std::vector<Pattern> inputs, std::string_view domain) {
  auto body = std::make_shared<Pattern::Body>();
  body->kind = Kind::kOp;
  body->domain = domain;
  body->children = std::move(inputs);
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find('|', begin), names.size());
    body->names.emplace_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return Pattern(std::move(body));
}

Pattern one_of(std::vector<Pattern> choices) {
  auto body = std::make_shared<Pattern::Body>();
  body->kind = Kind::kOneOf;
  body->children = std::move(choices);
  return Pattern(std::move(body));
}

// Matching in continuation-passing style: `next` is the rest of the match, so every choice (input
// order, alternatives) is undone and the other one tried when the rest fails.
class Matcher {
 public:
  using Next = std::function<bool()>;

  Matcher(const Graph& graph, NodeId root) : graph_(graph), match_(graph, root) {}

  std::optional<Match> run(const Pattern& pattern) {
    const ValueId root_value = graph_.node(match_.root_).output(0);
    if (root_value == ValueId::kNone) return std::nullopt;
    if (!visit(pattern, root_value, [&] { return inner_values_are_ours(); })) return std::nullopt;
    return std::move(match_);
  }
  // The shape was there but an inner value has other users.
  bool found_but_shared() const { return found_but_shared_; }

 private:
  bool visit(const Pattern& pattern, ValueId id, const Next& next) {
    const Pattern::Body& body = pattern.body();
    if (body.kind == Kind::kOneOf) {
      return std::any_of(body.children.begin(), body.children.end(), [&](const Pattern& choice) {
        return visit(choice, id, [&] { return bind(body, id, next); });
      });
    }
    if (body.kind == Kind::kAbsent) return id == ValueId::kNone && next();
    if (id == ValueId::kNone) return false;
    const GraphValue& value = graph_.value(id);
    switch (body.kind) {
      case Kind::kConstant:
        if (!value.is_constant()) return false;
        break;
      case Kind::kScalar:
        return visit_scalar(body, value, next);
      case Kind::kOp:
        return visit_op(body, id, next);
      default:
        break;
    }
    return bind(body, id, next);
  }

  bool bind(const Pattern::Body& body, ValueId id, const Next& next) {
    const auto saved = match_.bindings_;
    for (Var var : body.vars) {
      ValueId& bound = match_.bindings_[static_cast<size_t>(var.index)];
      if (bound != ValueId::kNone && bound != id) {
        match_.bindings_ = saved;
        return false;
      }
      bound = id;
    }
    if (next()) return true;
    match_.bindings_ = saved;
    return false;
  }

  bool visit_scalar(const Pattern::Body& body, const GraphValue& value, const Next& next) {
    const std::optional<double> number = scalar_of(value.constant);
    if (!number) return false;
    const double allowed = body.tolerance * (body.scalar == 0 ? 1.0 : std::abs(body.scalar));
    if (!(std::abs(*number - body.scalar) <= allowed)) return false;
    const size_t saved = match_.scalar_rank_;
    match_.scalar_rank_ = std::max(saved, value.constant.shape().size());
    if (next()) return true;
    match_.scalar_rank_ = saved;
    return false;
  }

  bool visit_op(const Pattern::Body& body, ValueId id, const Next& next) {
    const GraphValue& value = graph_.value(id);
    if (value.producer == NodeId::kNone || value.output_index != 0 || value.is_constant()) {
      return false;
    }
    const Node& node = graph_.node(value.producer);
    if (node.domain != body.domain ||
        std::find(body.names.begin(), body.names.end(), node.op) == body.names.end()) {
      return false;
    }
    size_t present = node.inputs.size();
    while (present > 0 && node.inputs[present - 1] == ValueId::kNone) --present;
    if (present > body.children.size() && !body.more_inputs) return false;
    for (const NodePredicate& predicate : body.predicates) {
      if (!predicate(graph_, node)) return false;
    }
    match_.nodes_.push_back(value.producer);
    if (body.shared) match_.shared_.push_back(value.producer);
    const Next finish = [&] { return bind(body, id, next); };
    if (visit_inputs(body, node, 0, false, finish)) return true;
    if (body.children.size() >= 2 && is_commutative(node) &&
        visit_inputs(body, node, 0, true, finish)) {
      return true;
    }
    match_.nodes_.pop_back();
    if (body.shared) match_.shared_.pop_back();
    return false;
  }

  bool visit_inputs(const Pattern::Body& body, const Node& node, size_t i, bool swapped,
                    const Next& next) {
    if (i == body.children.size()) return next();
    const size_t from = swapped && i < 2 ? 1 - i : i;
    return visit(body.children[i], node.input(from),
                 [&] { return visit_inputs(body, node, i + 1, swapped, next); });
  }

  static bool is_commutative(const Node& node) {
    const OpDef* def = find_op(node.domain, node.op);
    return def && def->has(kCommutative);
  }

  bool inner_values_are_ours() {
    const auto has = [](const std::vector<NodeId>& list, NodeId id) {
      return std::find(list.begin(), list.end(), id) != list.end();
    };
    for (NodeId id : match_.nodes_) {
      if (id == match_.root_ || has(match_.shared_, id)) continue;
      for (ValueId out : graph_.node(id).outputs) {
        if (out == ValueId::kNone) continue;
        const NodeIds& users = graph_.value(out).users;
        const bool ours = std::all_of(users.begin(), users.end(),
                                      [&](NodeId user) { return has(match_.nodes_, user); });
        if (!ours || graph_.is_output(out)) {
          found_but_shared_ = true;
          return false;
        }
      }
    }
    return true;
  }

  const Graph& graph_;
  Match match_;
  bool found_but_shared_ = false;
};

// Operators that the pattern's root may be.
std::vector<std::string_view> root_names(const Pattern& pattern) {
  const Pattern::Body& body = pattern.body();
  std::vector<std::string_view> names(body.names.begin(), body.names.end());
  for (const Pattern& choice : body.kind == Kind::kOneOf ? body.children : std::vector<Pattern>()) {
    for (std::string_view name : root_names(choice)) names.push_back(name);
  }
  return names;
}

std::optional<Match> find_match(const Graph& graph, NodeId root, const Pattern& pattern,
                                bool& found_but_shared) {
  Matcher matcher(graph, root);
  std::optional<Match> match = matcher.run(pattern);
  found_but_shared = !match && matcher.found_but_shared();
  return match;
}

}  // namespace sardonyx::rules
