#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "ops/resolve.h"
#include "passes/edit.h"
#include "passes/numbers.h"
#include "passes/pattern.h"
#include "sardonyx/error.h"

namespace sardonyx::rules {
namespace {

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

}  // namespace

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
    bool shared = false;
    const std::optional<Match> match = find_match(graph_, id, rule.pattern, shared);
    if (!match) {
      if (shared) context_.reject(rule.name, "inner value is used elsewhere", graph_, id);
      return false;
    }
    if (const char* reason = rule.guard ? rule.guard(*match) : nullptr) {
      context_.reject(rule.name, reason, graph_, id);
      return false;
    }
    Rewrite rewrite(*match, graph_, context_);
    const ValueId built = rule.build(rewrite);
    if (built == ValueId::kNone && rewrite.failure_.empty()) rewrite.reject("build");
    if (rewrite.failure_.empty()) check(rewrite, built);
    if (!rewrite.failure_.empty() || !context_.take_edit(rule.name, graph_.node(id))) {
      if (!rewrite.failure_.empty()) context_.reject(rule.name, rewrite.failure_, graph_, id);
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
    const NodeId producer = graph_.value(built).producer;
    const bool is_new =
        std::find(rewrite.added_.begin(), rewrite.added_.end(), producer) != rewrite.added_.end();
    if (!old_type.shape || !new_type.shape) {
      const bool may_grow = !old_type.shape && !new_type.shape && rewrite.scalar_rank_ > 0;
      if (may_grow || (!is_new && !rewrite.trust_shape_)) {
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
