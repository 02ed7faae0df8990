#include "onnx/graph_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "onnx/type_proto.h"
#include "onnx/value_info.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

constexpr size_t kMaxWarnings = 100;
constexpr size_t kMaxAttributes = 1000;  // of one node; they are looked up one after the other

[[noreturn]] void reject(const std::string& message) {
  throw Error(ErrorCode::kInvalidGraph, message);
}

void keep_tensor_fields(RawFields raw, GraphValue& value) {
  if (raw.empty()) return;
  change_fields(value, [&](ValueFileFields& fields) { fields.tensor = std::move(raw); });
}

}  // namespace

// A GraphProto taken apart; its fields may stand in any order.
struct GraphReader::Parts {
  std::string name, doc;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<std::byte> other_fields;
  std::vector<WireCursor> nodes, initializers, sparse_initializers, value_infos;
  std::vector<DeclaredValue> inputs, outputs;
};

void GraphReader::warn(std::string message) {
  if (model_.warnings.size() < kMaxWarnings) model_.warnings.push_back(std::move(message));
}

GraphReader::Parts GraphReader::split(WireCursor graph) {
  Parts parts;
  while (graph.next()) {
    switch (graph.field()) {
      case 1:
        parts.nodes.push_back(graph.message("NodeProto"));
        break;
      case 2:
        parts.name = graph.string();
        break;
      case 5:
        parts.initializers.push_back(graph.message("TensorProto"));
        break;
      case 10:
        parts.doc = graph.string();
        break;
      case 11:
        parts.inputs.push_back(read_value_info(graph.message("ValueInfoProto")));
        break;
      case 12:
        parts.outputs.push_back(read_value_info(graph.message("ValueInfoProto")));
        break;
      case 13:
        parts.value_infos.push_back(graph.message("ValueInfoProto"));
        break;
      case 15:
        parts.sparse_initializers.push_back(graph.message("SparseTensorProto"));
        break;
      case 16:
        parts.metadata.push_back(read_string_entry(graph.message("StringStringEntryProto")));
        break;
      default: {  // quantization annotations, unknown fields: no effect on results
        graph.append_raw_to(parts.other_fields);
        break;
      }
    }
  }
  return parts;
}

std::unique_ptr<Graph> GraphReader::main_graph(WireCursor graph) {
  return this->graph(graph, nullptr);
}

std::unique_ptr<Graph> GraphReader::graph(WireCursor cursor, CaptureList* outer) {
  Parts parts = split(cursor);
  auto result = std::make_unique<Graph>(dims_);
  result->name = std::move(parts.name);
  result->doc = std::move(parts.doc);
  result->metadata = std::move(parts.metadata);
  result->other_fields = std::move(parts.other_fields);
  const bool is_main = outer == nullptr;
  if (is_main && result->name.empty()) warn("the graph has no name");
  GraphScope scope(*result, outer);
  open_.push_back(&parts);
  add_inputs(scope, parts, is_main);
  add_nodes(scope, parts);
  add_value_types(scope, parts);
  add_outputs(scope, parts, is_main);
  open_.pop_back();
  return result;
}

std::shared_ptr<Graph> GraphReader::subgraph(WireCursor cursor, CaptureList* captures) {
  if (captures == nullptr) reject("the default of an attribute cannot be a graph");
  const auto depth = static_cast<int>(open_.size());
  if (depth > options_.max_subgraph_depth) {
    reject(fmt::format("subgraphs are nested deeper than {} levels", options_.max_subgraph_depth));
  }
  return graph(cursor, captures);
}

std::shared_ptr<Graph> GraphReader::function_body(const FunctionParts& function) {
  Parts parts;
  parts.nodes = function.nodes;
  parts.value_infos = function.value_infos;
  for (const std::string& name : function.outputs) {
    parts.outputs.push_back(
        {.name = name, .type = {}, .doc = {}, .metadata = {}, .other_fields = {}});
  }
  auto result = std::make_shared<Graph>(dims_);
  result->name = function.name;
  GraphScope scope(*result, nullptr);
  open_.push_back(&parts);
  in_function_ = true;
  for (const std::string& name : function.inputs) {
    if (name.empty()) reject("an input has no name");
    if (!scope.declare(name, result->add_input(name, {}))) {
      reject(fmt::format("two inputs have the name '{}'", name));
    }
  }
  add_nodes(scope, parts);
  add_value_types(scope, parts);
  add_outputs(scope, parts, false);
  in_function_ = false;
  open_.pop_back();
  return result;
}

Tensor GraphReader::dense(NamedSparseTensor sparse) const {
  const auto count = checked_element_count(sparse.tensor.shape);
  const int64_t bytes = storage_bytes(sparse.tensor.values.type(), *count).value_or(INT64_MAX);
  if (bytes > options_.max_dense_bytes) {
    reject(fmt::format("sparse tensor '{}' would take {} bytes as a dense one, the limit is {}",
                       sparse.name, bytes, options_.max_dense_bytes));
  }
  try {
    return sparse.tensor.to_dense();
  } catch (const Error& error) {
    throw error.with_context(fmt::format("'{}'", sparse.name));
  }
}

std::vector<NamedTensor> GraphReader::read_initializers(const Parts& parts) const {
  std::vector<NamedTensor> result;
  for (const WireCursor& cursor : parts.initializers) {
    result.push_back(read_tensor(cursor, source_));
  }
  for (const WireCursor& cursor : parts.sparse_initializers) {
    NamedSparseTensor sparse = read_sparse_tensor(cursor, source_);
    std::string name = sparse.name;
    result.push_back({std::move(name), dense(std::move(sparse)), {}});
  }
  return result;
}

// An initializer that is also an input is its default from IR version 4 on; before, where every
// initializer had to be an input, it is a constant: nothing could be folded or packed otherwise.
void GraphReader::add_inputs(GraphScope& scope, const Parts& parts, bool is_main) {
  Graph& graph = scope.graph();
  const bool defaults_allowed = model_.ir_version >= 4;
  std::vector<NamedTensor> initializers = read_initializers(parts);
  std::unordered_map<std::string_view, NamedTensor*> by_name;
  for (NamedTensor& each : initializers) {
    if (each.name.empty()) reject("an initializer has no name");
    if (!by_name.emplace(each.name, &each).second) {
      reject(fmt::format("two initializers have the name '{}'", each.name));
    }
  }
  std::unordered_set<std::string_view> seen;
  std::vector<const DeclaredValue*> described_constants;
  const DimRule rule = is_main ? DimRule::kOwnSymbols : DimRule::kUnknown;
  for (const DeclaredValue& info : parts.inputs) {
    if (info.name.empty()) reject("an input of the graph has no name");
    if (!seen.insert(info.name).second) {
      reject(fmt::format("two inputs have the name '{}'", info.name));
    }
    const auto initializer = by_name.find(info.name);
    const bool initialized = initializer != by_name.end();
    const bool constant = initialized && !defaults_allowed;
    ValueType type;
    if (info.has_type) {
      type = read_type(info.type, constant ? DimRule::kUnknown : rule, info.name, *dims_);
    }
    if (is_main && !initialized && type.kind == ValueType::Kind::kUnknown) {
      reject(fmt::format("input '{}' has no type; declare its element type", info.name));
    }
    if (initialized && type.is_tensor() && type.element != initializer->second->tensor.type()) {
      reject(fmt::format("input '{}' is declared {}, its initializer holds {}", info.name,
                         name_of(type.element), name_of(initializer->second->tensor.type())));
    }
    if (constant) {
      described_constants.push_back(&info);
      continue;
    }
    Tensor fallback;
    RawFields tensor_fields;
    if (initialized) {
      if (!is_main) {
        reject(
            fmt::format("input '{}' of a subgraph has an initializer, which only the main graph "
                        "allows",
                        info.name));
      }
      fallback = std::move(initializer->second->tensor);
      tensor_fields = std::move(initializer->second->other_fields);
      by_name.erase(initializer);
      if (type.kind == ValueType::Kind::kUnknown) {
        type = ValueType::tensor(fallback.type(), to_dims(fallback.shape()));
      }
    }
    const ValueId id = graph.add_input(info.name, std::move(type), std::move(fallback));
    add_notes(info, graph.value(id));
    keep_declared_type(info, graph.value(id));
    keep_tensor_fields(std::move(tensor_fields), graph.value(id));
    declare(scope, info.name, id);
  }
  for (NamedTensor& each : initializers) {
    if (!by_name.contains(each.name)) continue;
    const ValueId id = graph.add_constant(each.name, std::move(each.tensor));
    keep_tensor_fields(std::move(each.other_fields), graph.value(id));
    declare(scope, each.name, id);
  }
  for (const DeclaredValue* info : described_constants) {
    GraphValue& value = graph.value(*scope.find_local(info->name));
    add_notes(*info, value);
    keep_declared_type(*info, value);
  }
}

void GraphReader::declare(GraphScope& scope, const std::string& name, ValueId id) {
  if (!scope.declare(name, id)) {
    reject(fmt::format("'{}' is defined twice in graph '{}'; every name may be defined once", name,
                       scope.graph().name));
  }
  if (scope.is_visible_outside(name)) {
    warn(fmt::format("'{}' in subgraph '{}' hides a value of the graph around it", name,
                     scope.graph().name));
  }
}

// The name is nowhere yet: defined later (unsorted or cyclic), or never.
void GraphReader::fail_undefined(const std::string& name) const {
  for (auto parts = open_.rbegin(); parts != open_.rend(); ++parts) {
    for (WireCursor node : (*parts)->nodes) {
      std::string op, node_name;
      bool defines = false;
      while (node.next()) {
        if (node.field() == 2) defines = defines || node.text() == name;
        if (node.field() == 3) node_name = node.string();
        if (node.field() == 4) op = node.string();
      }
      if (!defines) continue;
      reject(
          fmt::format("it uses '{}' before {} '{}' defines it: the nodes are not sorted or form a "
                      "cycle; sort them so that definitions come first",
                      name, op, node_name));
    }
  }
  reject(fmt::format("it uses '{}', which nothing defines", name));
}

void GraphReader::add_nodes(GraphScope& scope, const Parts& parts) {
  nodes_ += static_cast<int64_t>(parts.nodes.size());
  if (nodes_ > options_.max_nodes) {
    reject(fmt::format("the model has more than {} nodes, the limit", options_.max_nodes));
  }
  for (size_t i = 0; i < parts.nodes.size(); ++i) add_node(scope, parts.nodes[i], i);
}

void GraphReader::add_node(GraphScope& scope, WireCursor cursor, size_t index) {
  Graph& graph = scope.graph();
  Node node;
  NodeFileFields fields;
  std::vector<std::string> inputs, outputs;
  std::vector<WireCursor> attributes;
  while (cursor.next()) {
    switch (cursor.field()) {
      case 1:
        inputs.push_back(cursor.string());
        break;
      case 2:
        outputs.push_back(cursor.string());
        break;
      case 3:
        node.name = cursor.string();
        break;
      case 4:
        node.op = cursor.string();
        break;
      case 5:
        attributes.push_back(cursor.message("AttributeProto"));
        break;
      case 6:
        node.doc = cursor.string();
        break;
      case 7:
        node.domain = normal_domain(cursor.string());
        break;
      case 8:
        node.overload = cursor.string();
        break;
      case 9:
        node.metadata.push_back(read_string_entry(cursor.message("StringStringEntryProto")));
        break;
      default:
        cursor.append_raw_to(fields.node);
        break;
    }
  }
  try {
    if (node.op.empty()) reject("it has no op_type");
    if (attributes.size() > kMaxAttributes) {
      reject(
          fmt::format("it has {} attributes, the limit is {}", attributes.size(), kMaxAttributes));
    }
    used_domains_.insert(node.domain);
    CaptureList captures(&scope);
    for (const WireCursor& attribute : attributes) {
      auto [name, value] = this->attribute(attribute, &captures, fields);
      if (node.attributes.contains(name))
        reject(fmt::format("attribute '{}' is given twice", name));
      node.attributes.set(name, std::move(value));
    }
    for (const std::string& name : inputs) {
      const auto id = name.empty() ? ValueId::kNone : scope.find(name);
      if (!id) fail_undefined(name);
      node.inputs.push_back(*id);
    }
    node.captures = captures.ids();
    for (const std::string& name : outputs) {
      const ValueId id = name.empty() ? ValueId::kNone : graph.add_value(name);
      if (!name.empty()) declare(scope, name, id);
      node.outputs.push_back(id);
    }
  } catch (const Error& error) {
    throw error.with_context(fmt::format("node {} {}{} of graph '{}'", index, node.op,
                                         node.name.empty() ? "" : fmt::format(" '{}'", node.name),
                                         graph.name));
  }
  if (!fields.node.empty() || !fields.attributes.empty()) {
    node.file_fields = std::make_shared<const NodeFileFields>(std::move(fields));
  }
  graph.add_node(std::move(node));
}

void GraphReader::add_value_types(GraphScope& scope, const Parts& parts) {
  for (const WireCursor& cursor : parts.value_infos) {
    const DeclaredValue info = read_value_info(cursor);
    const auto id = scope.find_local(info.name);
    if (!id) {  // of nothing that is here
      WireWriter kept;
      kept.bytes(13, cursor.all());
      RawFields& fields = scope.graph().other_fields;
      fields.insert(fields.end(), kept.result().begin(), kept.result().end());
      continue;
    }
    GraphValue& value = scope.graph().value(*id);
    add_notes(info, value);
    if (!info.has_type) continue;
    if (value.is_constant()) {
      keep_declared_type(info, value);
    } else if (value.type.kind == ValueType::Kind::kUnknown) {
      value.type = read_type(info.type, DimRule::kUnknown, info.name, *dims_);
      keep_declared_type(info, value);
    }
  }
}

void GraphReader::add_outputs(GraphScope& scope, const Parts& parts, bool is_main) {
  const DimRule rule = is_main ? DimRule::kOwnSymbols : DimRule::kUnknown;
  for (const DeclaredValue& info : parts.outputs) {
    const auto id = info.name.empty() ? std::nullopt : scope.find(info.name);
    if (!id) {
      reject(fmt::format("output '{}' of graph '{}' is defined by no node, input or initializer",
                         info.name, scope.graph().name));
    }
    scope.graph().add_output(*id);
    GraphValue& value = scope.graph().value(*id);
    add_notes(info, value);
    if (value.producer == NodeId::kNone && !scope.graph().is_input(*id)) {
      keep_declared_type(info, value);  // of a capture or constant
    }
    if (!info.has_type || value.producer == NodeId::kNone) continue;
    value.type = read_type(info.type, rule, info.name, *dims_);
    keep_declared_type(info, value);
  }
}

}  // namespace sardonyx
