#include "passes/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <unordered_map>

#include "ops/resolve.h"
#include "passes/edit.h"
#include "passes/numbers.h"
#include "sardonyx/error.h"

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

// The schema version that a form gets; 0 when it cannot be had in this stage.
int version_for(const Form& form, const PassContext& context) {
  const OpDef* def = find_op(form.domain, form.op);
  if (def == nullptr) return 0;
  int64_t opset = context.opset(std::string(form.domain));
  if (context.fused()) opset = std::clamp<int64_t>(opset, form.since, form.until - 1);
  const OpVersion* version = find_version(*def, opset);
  const bool right_form = version && version->since >= form.since && version->since < form.until;
  return right_form ? version->since : 0;
}

// Operators that the pattern's root may be.
std::vector<std::string_view> root_names(const Pattern& pattern) {
  const Pattern::Body& body = pattern.body();
  std::vector<std::string_view> names(body.names.begin(), body.names.end());
  for (const Pattern& choice : body.kind == Kind::kOneOf ? body.children : std::vector<Pattern>()) {
    for (std::string_view name : root_names(choice)) names.push_back(name);
  }
  return names;
}

// --- Rewrite -------------------------------------------------------------------------------------

ValueId Rewrite::reject(std::string_view reason) {
  if (failure_.empty()) failure_ = reason;
  return ValueId::kNone;
}

ValueId Rewrite::emit(const Form& form, const ValueIds& inputs, Attributes attributes) {
  const ValueIds made = emit_many(form, inputs, std::move(attributes), 1);
  return made.empty() ? ValueId::kNone : made[0];
}

ValueIds Rewrite::emit_many(const Form& form, const ValueIds& inputs, Attributes attributes,
                            size_t outputs) {
  if (!failure_.empty()) return ValueIds(outputs, ValueId::kNone);
  const int version = version_for(form, context_);
  if (version == 0) {
    reject("opset");
    return ValueIds(outputs, ValueId::kNone);
  }
  Node node;
  node.domain = form.domain;
  node.op = form.op;
  node.version = version;
  node.name = join_names(graph_, nodes_);
  node.inputs = inputs;
  node.attributes = std::move(attributes);
  for (size_t i = 0; i < outputs; ++i) node.outputs.push_back(graph_.add_value(""));
  const ValueIds made = node.outputs;
  added_.push_back(graph_.add_node(std::move(node)));
  try {
    infer_node(graph_, added_.back());  // checks the node against its schema, too
  } catch (const Error&) {
    reject("type or form not allowed");
  }
  return made;
}

ValueId Rewrite::constant(Tensor tensor) {
  constants_.push_back(graph_.add_constant("", std::move(tensor)));
  return constants_.back();
}

ValueId Rewrite::floats(DataType type, const Shape& shape, std::span<const double> values) {
  const std::optional<Tensor> tensor = write_floats(type, shape, values);
  return tensor ? constant(*tensor) : reject("type");
}

ValueId Rewrite::scalar(DataType type, double value) { return floats(type, Shape{}, {&value, 1}); }

ValueId Rewrite::ints(std::span<const int64_t> values) {
  return constant(Tensor::of_int64(values));
}

// --- applying ------------------------------------------------------------------------------------

class Rewriter {
 public:
  Rewriter(Graph& graph, PassContext& context) : graph_(graph), context_(context) {}

  // True when the node was replaced.
  bool try_rule(const Rule& rule, NodeId id) {
    Matcher matcher(graph_, id);
    const std::optional<Match> match = matcher.run(rule.pattern);
    if (!match) {
      if (matcher.found_but_shared()) context_.reject(rule.name, "inner value is used elsewhere");
      return false;
    }
    if (const char* reason = rule.guard ? rule.guard(*match) : nullptr) {
      context_.reject(rule.name, reason);
      return false;
    }
    Rewrite rewrite(*match, graph_, context_);
    const ValueId built = rule.build(rewrite);
    if (built == ValueId::kNone && rewrite.failure_.empty()) rewrite.reject("build");
    if (rewrite.failure_.empty()) check(rewrite, built);
    if (!rewrite.failure_.empty() || !context_.take_edit(rule.name, graph_.node(id))) {
      if (!rewrite.failure_.empty()) context_.reject(rule.name, rewrite.failure_);
      undo(rewrite);
      return false;
    }
    replace_value(graph_, graph_.node(id).output(0), built);
    const std::vector<NodeId> matched = rewrite.nodes_;
    for (NodeId node : matched) erase_unused(graph_, node);
    return true;
  }

 private:
  // The replacement must have the element type of the old value and a shape that does not
  // contradict it; what either knows is kept. A value that was there before must have a shape that
  // is proven equal.
  void check(Rewrite& rewrite, ValueId built) {
    const Node& root = rewrite.root();
    for (size_t i = 1; i < root.outputs.size(); ++i) {
      if (root.outputs[i] != ValueId::kNone && graph_.use_count(root.outputs[i]) != 0) {
        rewrite.reject("another output is used");
        return;
      }
    }
    const ValueId old_id = root.output(0);
    if (!can_replace(graph_, old_id, built)) {
      rewrite.reject("graph output");
      return;
    }
    const ValueType& old_type = graph_.value(old_id).type;
    ValueType& new_type = graph_.value(built).type;
    if (old_type.kind != new_type.kind || old_type.element != new_type.element) {
      rewrite.reject("type");
      return;
    }
    if (!old_type.shape || !new_type.shape) {
      const bool may_grow = !old_type.shape && !new_type.shape && rewrite.scalar_rank_ > 0;
      const bool existing = graph_.value(built).producer == NodeId::kNone ||
                            std::find(rewrite.added_.begin(), rewrite.added_.end(),
                                      graph_.value(built).producer) == rewrite.added_.end();
      if (may_grow || (existing && !rewrite.trust_shape_)) {
        rewrite.reject("unknown rank");
      } else if (!new_type.shape) {
        new_type.shape = old_type.shape;
      }
      return;
    }
    if (old_type.shape->size() != new_type.shape->size()) {
      rewrite.reject("shape");
      return;
    }
    const NodeId producer = graph_.value(built).producer;
    const bool is_new =
        producer != NodeId::kNone &&
        std::find(rewrite.added_.begin(), rewrite.added_.end(), producer) != rewrite.added_.end();
    for (size_t i = 0; i < old_type.shape->size(); ++i) {
      const Dim old_dim = (*old_type.shape)[i];
      Dim& new_dim = (*new_type.shape)[i];
      const bool clash = old_dim.is_known() && new_dim.is_known() && old_dim != new_dim;
      const bool proven = proven_equal(old_dim, new_dim) || is_new || rewrite.trust_shape_;
      if (clash || !proven) {
        rewrite.reject("shape");
        return;
      }
      if (!new_dim.is_known() && !old_dim.is_unknown()) new_dim = old_dim;
    }
  }

  void undo(Rewrite& rewrite) {
    for (auto at = rewrite.added_.rbegin(); at != rewrite.added_.rend(); ++at) {
      graph_.remove_node(*at);
    }
    for (ValueId id : rewrite.constants_) {
      graph_.value(id).constant = Tensor();
      graph_.value(id).alive = false;
    }
  }

  Graph& graph_;
  PassContext& context_;
};

void apply_rules(Graph& graph, PassContext& context, std::span<const Rule> rules) {
  std::unordered_map<std::string_view, std::vector<const Rule*>> by_root;
  const RunsIn excluded = context.fused() ? RunsIn::kCanonicalOnly : RunsIn::kFusedOnly;
  for (const Rule& rule : rules) {
    const bool wanted = rule.level <= context.options().level && rule.runs_in != excluded &&
                        (rule.exact || context.options().allow_inexact) &&
                        context.enabled(rule.name);
    if (!wanted) continue;
    for (std::string_view name : root_names(rule.pattern)) by_root[name].push_back(&rule);
  }
  Rewriter rewriter(graph, context);
  // order() grows by what the rules add, so replacements are visited too.
  for (size_t i = 0; i < graph.order().size() && context.edits_left(); ++i) {
    const NodeId id = graph.order()[i];
    if (!graph.node(id).alive) continue;
    const auto candidates = by_root.find(graph.node(id).op);
    if (candidates == by_root.end()) continue;
    for (const Rule* rule : candidates->second) {
      const auto start = std::chrono::steady_clock::now();
      const bool applied = rewriter.try_rule(*rule, id);
      const auto spent = std::chrono::steady_clock::now() - start;
      context.add_time(rule->name,
                       std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count());
      if (applied) break;
    }
  }
}

}  // namespace sardonyx::rules
