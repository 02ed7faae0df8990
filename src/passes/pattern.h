// Pattern engine: a rewrite rule is a row {name, pattern, guard, build}. A pattern describes the
// value to be replaced by the operators that compute it; the engine finds it, makes sure that
// nobody else needs the inner values, asks `guard`, lets `build` emit new nodes, checks that the
// replaced value keeps its type and shape, and makes the exchange as one counted edit.
//
//   constexpr Var x{0};
//   const Rule silu = {"silu", op("Mul", {x, op("Sigmoid", {x})}), nullptr,
//                      [](Rewrite& r) { return r.emit({"Silu", 1, kInternalDomain}, {r[x]}); }};
#pragma once

#include <array>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op.h"
#include "passes/pass.h"

namespace sardonyx::rules {

// A hole of a pattern, bound to a value by a match. The same Var twice must be the same value.
struct Var {
  int index;
};
inline constexpr int kMaxVars = 16;

// Looks at a candidate node before its inputs are matched: attributes, parameters.
using NodePredicate = std::function<bool(const Graph& graph, const Node& node)>;

class Pattern {
 public:
  Pattern(Var var);  // NOLINT: a Var is the pattern "any value"

  // Binds the value that this pattern matched.
  Pattern as(Var var) const;
  // The node may have more inputs than were listed.
  Pattern with_more_inputs() const;
  // The inner value may have other users; it then stays in the graph beside the replacement.
  Pattern shared() const;
  Pattern where(NodePredicate predicate) const;

  struct Body;
  const Body& body() const { return *body_; }

 private:
  friend Pattern any();
  friend Pattern absent();
  friend Pattern constant(Var var);
  friend Pattern scalar(double value, double tolerance);
  friend Pattern op(std::string_view names, std::vector<Pattern> inputs, std::string_view domain);
  friend Pattern one_of(std::vector<Pattern> choices);
  explicit Pattern(std::shared_ptr<Body> body) : body_(std::move(body)) {}
  std::shared_ptr<Body> copy() const;

  std::shared_ptr<const Body> body_;
};

// Any present value.
Pattern any();
// An optional input that is not given. (Inputs beyond those listed must be absent anyway.)
Pattern absent();
// A constant of any type and shape.
Pattern constant(Var var);
// A constant of one element within `tolerance` (relative; absolute for 0) of `value`.
Pattern scalar(double value, double tolerance = 1e-6);
// Output 0 of a node. `names` is one operator or several, "Relu|Clip". Inputs 0 and 1 match in both
// orders when the operator is commutative.
Pattern op(std::string_view names, std::vector<Pattern> inputs, std::string_view domain = "");
// The first choice that lets the whole pattern match.
Pattern one_of(std::vector<Pattern> choices);

class Rewrite;

// What matched. Read by guards.
class Match {
 public:
  Match(const Graph& graph, NodeId root) : graph_(&graph), root_(root) {
    bindings_.fill(ValueId::kNone);
  }

  const Graph& graph() const { return *graph_; }
  NodeId root_id() const { return root_; }
  const Node& root() const { return graph_->node(root_); }
  bool has(Var var) const { return (*this)[var] != ValueId::kNone; }
  ValueId operator[](Var var) const { return bindings_[static_cast<size_t>(var.index)]; }
  // The value bound to a Var, the node that produces it, its constant.
  const GraphValue& value(Var var) const { return graph_->value((*this)[var]); }
  const Node& node(Var var) const { return graph_->node(value(var).producer); }
  const Tensor& constant(Var var) const { return value(var).constant; }
  DataType element(Var var) const { return value(var).type.element; }
  const SymShape& shape(Var var) const { return value(var).type.shape; }
  std::optional<size_t> rank(Var var) const {
    return shape(var) ? std::optional<size_t>(shape(var)->size()) : std::nullopt;
  }

 private:
  friend class Matcher;
  friend class Rewrite;
  friend class Rewriter;
  const Graph* graph_;
  NodeId root_;
  std::array<ValueId, kMaxVars> bindings_;
  std::vector<NodeId> nodes_;   // matched, the root first
  std::vector<NodeId> shared_;  // those that may have other users
  size_t scalar_rank_ = 0;      // the highest rank of a matched scalar()
};

// An operator as `build` writes it: in the form of schema version `since`. In the canonical stage
// the model's opset decides the version, which must not be older than `since`; in the fused stage
// `since` is used when the model's opset is older.
struct Form {
  std::string_view op;
  int since = 1;
  std::string_view domain = "";
  int until = std::numeric_limits<int>::max();  // versions from here on have another form
};

// What `build` sees: the match and the means to add nodes. After a failed emit everything returns
// kNone, so builds need no checks in between.
class Rewrite : public Match {
 public:
  Rewrite(const Match& match, Graph& graph, PassContext& context)
      : Match(match), graph_(graph), context_(context) {}

  // Adds a node, infers its outputs and returns the first: kNone when it cannot be expressed.
  ValueId emit(const Form& form, const ValueIds& inputs, Attributes attributes = {});
  ValueIds emit_many(const Form& form, const ValueIds& inputs, Attributes attributes,
                     size_t outputs);
  ValueId constant(Tensor tensor);
  using Match::constant;
  // A constant of the element type of `like` (floating), all elements of `values` rounded to it.
  ValueId floats(DataType type, const Shape& shape, std::span<const double> values);
  ValueId scalar(DataType type, double value);
  ValueId ints(std::span<const int64_t> values);
  // Gives up; returns kNone.
  ValueId reject(std::string_view reason);

  // For replacements by a value that was there before: accepts a shape that is not proven equal,
  // because the rule knows that it is.
  void trust_shape() { trust_shape_ = true; }

  Graph& graph_to_edit() { return graph_; }
  PassContext& context() { return context_; }

 private:
  friend class Rewriter;
  Graph& graph_;
  PassContext& context_;
  std::vector<NodeId> added_;
  std::vector<ValueId> constants_;
  std::string failure_;
  bool trust_shape_ = false;
};

enum class RunsIn : uint8_t { kBoth, kCanonicalOnly, kFusedOnly };

struct Rule {
  const char* name;
  Pattern pattern;
  // nullptr when the rule applies, else the reason why not. May be null.
  const char* (*guard)(const Match& match);
  // The value that takes the place of the matched one, or kNone after reject().
  ValueId (*build)(Rewrite& rewrite);
  OptimizationLevel level = OptimizationLevel::kBasic;
  RunsIn runs_in = RunsIn::kBoth;
  bool exact = true;  // up to rounding; others need PipelineOptions::allow_inexact
};

// The match of a pattern at output 0 of `root`. `found_but_shared`: there would be one but for
// other users of its inner values.
std::optional<Match> find_match(const Graph& graph, NodeId root, const Pattern& pattern,
                                bool& found_but_shared);

// Operators that a pattern's root may be. The views live as long as the pattern.
std::vector<std::string_view> root_names(const Pattern& pattern);

// Tries the rules, in order, on every node of the graph, new nodes included.
void apply_rules(Graph& graph, PassContext& context, std::span<const Rule> rules);

}  // namespace sardonyx::rules
