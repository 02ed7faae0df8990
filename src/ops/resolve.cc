#include "ops/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ops/check_node.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

std::string_view public_domain(std::string_view domain) {
  return domain.empty() ? std::string_view("ai.onnx") : domain;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replace = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replace, diagonal + 1, row[j] + 1});
    }
  }
  return row[b.size()];
}

// "; the nearest known operator is 'Conv'", or nothing when none is near.
std::string nearest_hint(const Node& node) {
  const OpDef* nearest = nullptr;
  size_t best = std::max<size_t>(2, node.op.size() / 3) + 1;
  for (const OpDef* op : all_ops()) {
    // The same name in another domain is nearer than any other name.
    size_t distance = edit_distance(node.op, op->name);
    if (op->domain != node.domain && distance != 0) ++distance;
    if (distance < best) {
      best = distance;
      nearest = op;
    }
  }
  if (nearest == nullptr) return "";
  return fmt::format("; the nearest known operator is '{}' of domain {}", nearest->name,
                     public_domain(nearest->domain));
}

// imports: null when they do not matter any more.
[[noreturn]] void fail_unknown(const Node& node, const OpsetImports* imports) {
  std::string newer;
  if (imports != nullptr && node.domain.empty()) {
    const auto import = imports->find("");
    if (import != imports->end() && import->second > kNewestOpset) {
      newer = fmt::format("; the model imports opset {}, the newest known is {}", import->second,
                          kNewestOpset);
    }
  }
  const auto is_of_domain = [&](const OpDef* op) { return op->domain == node.domain; };
  const std::span<const OpDef* const> all = all_ops();
  const bool is_known_domain = std::any_of(all.begin(), all.end(), is_of_domain);
  throw Error(
      ErrorCode::kNotImplemented,
      fmt::format("operator '{}' of domain {}{} is not known{}{}{}; `sardonyx ops` lists what is",
                  node.op, public_domain(node.domain),
                  node.name.empty() ? "" : fmt::format(" (node '{}')", node.name),
                  nearest_hint(node), newer,
                  is_known_domain ? "" : ", nor is any other of that domain"));
}

const OpDef& op_of(const Node& node, const OpsetImports* imports) {
  const OpDef* op = find_op(node.domain, node.op);
  if (op == nullptr) fail_unknown(node, imports);
  return *op;
}

// Files made for ONNX Runtime use these in the default domain below the opset that defines them.
bool is_known_early(const OpDef& op) {
  constexpr std::array<std::string_view, 1> kEarly = {"LayerNormalization"};
  return op.domain.empty() && std::find(kEarly.begin(), kEarly.end(), op.name) != kEarly.end();
}

ValueType merge_types(const ValueType& inferred, const ValueType& declared) {
  using Kind = ValueType::Kind;
  if (inferred.kind == Kind::kUnknown) return declared;
  if (inferred.holds_values() && inferred.kind == declared.kind && declared.inner &&
      (!inferred.inner || inferred.inner->kind == Kind::kUnknown)) {
    return declared;
  }
  if (inferred.kind != Kind::kTensor || declared.kind != Kind::kTensor) return inferred;
  ValueType merged = inferred;
  if (merged.element == DataType::kUndefined) merged.element = declared.element;
  if (!merged.shape) {
    merged.shape = declared.shape;
  } else if (declared.shape && declared.shape->size() == merged.shape->size()) {
    for (size_t i = 0; i < merged.shape->size(); ++i) {
      Dim& dim = (*merged.shape)[i];
      if (dim.is_unknown()) dim = (*declared.shape)[i];
    }
  }
  return merged;
}

// Can no value be of both types?
bool contradict(const ValueType& a, const ValueType& b) {
  if (!a.is_tensor() || !b.is_tensor()) return false;
  const bool elements_known =
      a.element != DataType::kUndefined && b.element != DataType::kUndefined;
  if (elements_known && a.element != b.element) return true;
  if (!a.shape || !b.shape) return false;
  if (a.shape->size() != b.shape->size()) return true;
  for (size_t i = 0; i < a.shape->size(); ++i) {
    const Dim &x = (*a.shape)[i], &y = (*b.shape)[i];
    if (x.is_known() && y.is_known() && x.value != y.value) return true;
  }
  return false;
}

// Collects what the model says of its values and their nodes deny; nobody reads a long list.
class WrongTypes {
 public:
  explicit WrongTypes(std::vector<std::string>& warnings) : warnings_(warnings) {}

  void add(const GraphValue& value, const ValueType& inferred, const DimTable& dims) {
    if (++count_ > kMost) return;
    warnings_.push_back(
        fmt::format("'{}' is declared {}, its node gives {}; the declaration is "
                    "ignored",
                    value.name, print_type(value.type, dims), print_type(inferred, dims)));
  }

  void finish() {
    if (count_ <= kMost) return;
    warnings_.push_back(
        fmt::format("{} more values are declared with types that their nodes do "
                    "not give",
                    count_ - kMost));
  }

 private:
  static constexpr size_t kMost = 8;
  std::vector<std::string>& warnings_;
  size_t count_ = 0;
};

class Resolver {
 public:
  using Warn = std::function<void(const std::string&)>;

  // Without imports nodes must be bound already.
  explicit Resolver(const OpsetImports* imports = nullptr, const Warn* warn = nullptr,
                    WrongTypes* wrong_types = nullptr)
      : imports_(imports), warn_(warn), wrong_types_(wrong_types) {}

  void run(Graph& graph) const {
    for (NodeId id : graph.order()) {
      if (graph.node(id).alive) run_node(graph, id);
    }
  }

  void run_node(Graph& graph, NodeId id) const {
    Node& node = graph.node(id);
    if (imports_ != nullptr && node.version == 0) bind_node(node, *imports_);
    const OpDef& op = op_of(node);

    std::vector<InferInput> inputs(node.inputs.size());
    std::vector<const ValueType*> input_types(node.inputs.size(), nullptr);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (node.inputs[i] == ValueId::kNone) continue;
      const GraphValue& value = graph.value(node.inputs[i]);
      input_types[i] = &value.type;
      inputs[i] = {&value.type, value.is_constant() ? &value.constant : nullptr,
                   value.ints ? &*value.ints : nullptr};
    }
    check_node(node, schema_of(op, node.version), input_types, warn_);

    std::vector<Graph*> visited;
    const InferContext::SubgraphInfer infer_body = [&](const Graph& body,
                                                       std::span<const ValueType> types) {
      Graph& own = find_body(node, body);
      visited.push_back(&own);
      return run_body(graph, node, own, types);
    };
    std::vector<InferOutput> outputs(node.outputs.size());
    InferContext context(node, graph.dims(), inputs, outputs, &infer_body);
    if (op.infer != nullptr) op.infer(context);
    // A body that infer did not ask for is resolved with what its inputs declare.
    for_each_subgraph(node, [&](const std::string&, Graph& body) {
      if (std::find(visited.begin(), visited.end(), &body) == visited.end()) {
        run_body(graph, node, body, {});
      }
    });

    for (size_t i = 0; i < outputs.size(); ++i) {
      if (node.outputs[i] == ValueId::kNone) continue;
      GraphValue& value = graph.value(node.outputs[i]);
      if (wrong_types_ != nullptr && contradict(outputs[i].type, value.type)) {
        wrong_types_->add(value, outputs[i].type, graph.dims());
      }
      value.type = merge_types(outputs[i].type, value.type);
      value.ints = std::move(outputs[i].ints);
    }
  }

 private:
  static Graph& find_body(const Node& node, const Graph& body) {
    Graph* found = nullptr;
    for_each_subgraph(node, [&](const std::string&, Graph& each) {
      if (&each == &body) found = &each;
    });
    if (found == nullptr) throw Error(ErrorCode::kFail, "a subgraph of another node was inferred");
    return *found;
  }

  std::vector<ValueType> run_body(const Graph& outer, const Node& node, Graph& body,
                                  std::span<const ValueType> types) const {
    for (const Capture& capture : body.captures()) {
      const GraphValue& from = outer.value(node.captures[static_cast<size_t>(capture.index)]);
      GraphValue& to = body.value(capture.inner);
      to.type = from.type;
      to.ints = from.ints;
      if (!to.ints && from.is_constant()) {
        const InferInput input{&from.type, &from.constant, nullptr};
        std::span<InferOutput> none;
        to.ints = InferContext(node, outer.dims(), {&input, 1}, none).input_ints(0);
      }
    }
    const std::vector<ValueId>& inputs = body.inputs();
    for (size_t i = 0; i < inputs.size() && i < types.size(); ++i) {
      GraphValue& input = body.value(inputs[i]);
      input.type = merge_types(types[i], input.type);
    }
    run(body);
    std::vector<ValueType> results;
    for (ValueId id : body.outputs()) results.push_back(body.value(id).type);
    return results;
  }

  const OpsetImports* imports_;
  const Warn* warn_;
  WrongTypes* wrong_types_;
};

}  // namespace

const OpDef& op_of(const Node& node) { return op_of(node, nullptr); }

void bind_node(Node& node, const OpsetImports& imports) {
  if (node.domain == "ai.onnx") node.domain.clear();
  const OpDef& op = op_of(node, &imports);
  auto import = imports.find(node.domain);
  if (import == imports.end() && node.domain.empty()) import = imports.find("ai.onnx");
  int64_t opset = 0;
  if (import != imports.end()) {
    opset = import->second;
  } else if (node.domain == kInternalDomain) {
    opset = INT64_MAX;
  } else {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("operator '{}' (node '{}') is of domain {}, which the model does not "
                            "import; add it to opset_import",
                            node.op, node.name, public_domain(node.domain)));
  }
  const OpVersion* version = find_version(op, opset);
  if (version == nullptr && is_known_early(op)) version = &op.versions.front();
  if (version == nullptr) {
    throw Error(
        ErrorCode::kNotImplemented,
        fmt::format("operator '{}' of domain {} (node '{}') came with version {}, the model "
                    "imports version {}",
                    node.op, public_domain(node.domain), node.name, op.versions.front().since,
                    opset));
  }
  node.version = version->since;
}

void resolve_model(Model& model, const ResolveOptions& options) {
  const Resolver::Warn warn = [&](const std::string& message) {
    model.warnings.push_back(message);
  };
  const auto import = model.opset_imports.find("");
  if (import != model.opset_imports.end() && import->second > kNewestOpset) {
    warn(fmt::format("opset {} is newer than {}, the newest known", import->second, kNewestOpset));
  }
  WrongTypes wrong_types(model.warnings);
  Resolver(&model.opset_imports, options.lenient_attributes ? &warn : nullptr, &wrong_types)
      .run(*model.graph);
  wrong_types.finish();
}

void infer_node(Graph& graph, NodeId id) { Resolver().run_node(graph, id); }

void infer_graph(Graph& graph) { Resolver().run(graph); }

}  // namespace sardonyx
