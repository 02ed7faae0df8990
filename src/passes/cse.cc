// Common subexpressions: of two nodes with equal operator, version, attributes and inputs the later
// one goes. Equal small constants are merged first, so that nodes that differ only in them merge.
#include <bit>
#include <string>
#include <unordered_map>

#include "ops/op.h"
#include "passes/edit.h"
#include "passes/passes.h"

namespace sardonyx {
namespace {

constexpr const char* kName = "cse";
constexpr int64_t kMaxMergedConstantBytes = 4096;

void append(std::string& key, const void* data, size_t bytes) {
  key.append(static_cast<const char*>(data), bytes);
}
template <typename T>
void append_number(std::string& key, T number) {
  append(key, &number, sizeof(number));
}
void append_text(std::string& key, const std::string& text) {
  append_number(key, text.size());
  key += text;
}

// False when the tensor is not described: strings and large ones.
bool append_tensor(std::string& key, const Tensor& tensor) {
  if (tensor.type() == DataType::kString || tensor.size_bytes() > kMaxMergedConstantBytes) {
    return false;
  }
  append_number(key, tensor.type());
  append_number(key, tensor.shape().size());
  for (int64_t dim : tensor.shape()) append_number(key, dim);
  append(key, tensor.raw(), static_cast<size_t>(tensor.size_bytes()));
  return true;
}

// Kinds that occur in nodes worth merging; others make the node unique.
bool append_attribute(std::string& key, const AttributeValue& value) {
  append_number(key, value.index());
  if (const auto* number = std::get_if<int64_t>(&value)) {
    append_number(key, *number);
  } else if (const auto* real = std::get_if<float>(&value)) {
    append_number(key, std::bit_cast<uint32_t>(*real));
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    append_text(key, *text);
  } else if (const auto* numbers = std::get_if<std::vector<int64_t>>(&value)) {
    append_number(key, numbers->size());
    append(key, numbers->data(), numbers->size() * sizeof(int64_t));
  } else if (const auto* reals = std::get_if<std::vector<float>>(&value)) {
    append_number(key, reals->size());
    append(key, reals->data(), reals->size() * sizeof(float));
  } else if (const auto* tensor = get_held<Tensor>(value)) {
    return append_tensor(key, *tensor);
  } else {
    return false;
  }
  return true;
}

// Empty when the node may not be merged.
std::string key_of(const Node& node) {
  const OpDef* def = find_op(node.domain, node.op);
  if (def == nullptr || def->has(kNonDeterministic) || def->has(kControlFlow)) return "";
  std::string key;
  append_text(key, node.domain);
  append_text(key, node.op);
  append_number(key, node.version);
  for (ValueId input : node.inputs) append_number(key, input);
  append_number(key, node.outputs.size());
  append_number(key, node.attributes.size());
  for (const auto& [name, value] : node.attributes) {
    append_text(key, name);
    if (!append_attribute(key, value)) return "";
  }
  return key;
}

void merge_constants(Graph& graph, PassContext& context) {
  std::unordered_map<std::string, ValueId> seen;
  for (NodeId id : graph.order()) {
    for (size_t i = 0; i < graph.node(id).inputs.size(); ++i) {
      const ValueId input = graph.node(id).inputs[i];
      if (input == ValueId::kNone || !graph.value(input).is_constant()) continue;
      std::string key;
      if (!append_tensor(key, graph.value(input).constant)) continue;
      const auto [at, added] = seen.try_emplace(std::move(key), input);
      if (added || at->second == input) continue;
      if (!context.take_edit(kName, graph.node(id))) return;
      graph.set_input(id, i, at->second);
    }
  }
}

// Can the outputs of `later` be replaced by those of `first`, which are as many?
bool may_merge(const Graph& graph, const Node& first, const Node& later) {
  for (size_t i = 0; i < later.outputs.size(); ++i) {
    const ValueId from = later.outputs[i];
    if (from == ValueId::kNone || graph.use_count(from) == 0) continue;
    const ValueId to = first.outputs[i];
    if (to == ValueId::kNone || !can_replace(graph, from, to)) return false;
  }
  return true;
}

}  // namespace

void merge_common_subexpressions(Graph& graph, PassContext& context) {
  merge_constants(graph, context);
  std::unordered_map<std::string, NodeId> seen;
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    const std::string key = key_of(graph.node(id));
    if (key.empty()) continue;
    const auto [at, added] = seen.try_emplace(key, id);
    if (added) continue;
    const Node& first = graph.node(at->second);
    const ValueIds outputs = graph.node(id).outputs;
    if (!may_merge(graph, first, graph.node(id))) continue;
    if (!context.take_edit(kName, graph.node(id))) return;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] != ValueId::kNone && graph.use_count(outputs[i]) != 0) {
        replace_value(graph, outputs[i], first.outputs[i]);
      }
    }
    graph.remove_node(id);
  }
}

}  // namespace sardonyx
