#include "cpu/layout.h"

#include <algorithm>

#include "ops/resolve.h"
#include "passes/edit.h"

namespace sardonyx::cpu {
namespace {

constexpr const char* kName = "layout";

// Which operators begin or continue a blocked region.
struct Row {
  std::string_view op;
  Converter converter;
  std::string_view domain = "";
};
constexpr Row kRows[] = {
    {"Conv", convert_conv},
    {"FusedConv", convert_conv, kInternalDomain},
    {"ConvTranspose", convert_conv_transpose},
    {"FusedConvTranspose", convert_conv_transpose, kInternalDomain},
    // These only continue a region.
    {"BatchNormalization", convert_batch_norm},
    {"MaxPool", convert_pool},
    {"AveragePool", convert_pool},
    {"GlobalAveragePool", convert_global_pool},
    {"ReduceMean", convert_global_pool},
    {"Resize", convert_resize},
    {"Upsample", convert_resize},
    {"Relu", convert_unary},
    {"LeakyRelu", convert_unary},
    {"Clip", convert_unary},
    {"Sigmoid", convert_unary},
    {"HardSigmoid", convert_unary},
    {"HardSwish", convert_unary},
    {"Swish", convert_unary},
    {"Tanh", convert_unary},
    {"Gelu", convert_unary},
    {"Add", convert_binary},
    {"Sub", convert_binary},
    {"Mul", convert_binary},
    {"Div", convert_binary},
    {"Concat", convert_concat},
};

const Row* find_row(const Node& node) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                [&](const Row& r) { return node.is(r.op, r.domain); });
  return row == std::end(kRows) ? nullptr : row;
}

// The input of a Transpose with this permutation that makes `id`; kNone otherwise.
ValueId transposed_from(const Graph& graph, ValueId id, const std::vector<int64_t>& permutation) {
  const NodeId producer = graph.value(id).producer;
  if (producer == NodeId::kNone) return ValueId::kNone;
  const Node& node = graph.node(producer);
  if (!node.is("Transpose") || node.attributes.get_ints("perm") != permutation) {
    return ValueId::kNone;
  }
  return node.input(0);
}

}  // namespace

bool Commit::operator()() const { return context.take_edit(kName, node); }

std::optional<int64_t> LayoutPass::channels_of(ValueId id) const {
  if (id == ValueId::kNone) return std::nullopt;
  if (const auto at = converted_.find(id); at != converted_.end()) return at->second.channels;
  const ValueType& type = graph_.value(id).type;
  if (!type.is_tensor() || type.element != DataType::kFloat || !type.shape ||
      type.shape->size() != 4 || !(*type.shape)[1].is_known() || (*type.shape)[1].value < 1) {
    return std::nullopt;
  }
  return (*type.shape)[1].value;
}

ValueId LayoutPass::emit(const Node& from, std::string_view op, ValueIds inputs,
                         Attributes attributes) {
  Node node;
  node.domain = kInternalDomain;
  node.op = op;
  node.version = 1;
  node.name = from.name;
  while (!inputs.empty() && inputs.back() == ValueId::kNone) inputs.pop_back();
  node.inputs = std::move(inputs);
  node.outputs = {graph_.add_value("")};
  node.attributes = std::move(attributes);
  const ValueId out = node.outputs[0];
  infer_node(graph_, graph_.add_node(std::move(node)));
  return out;
}

ValueId LayoutPass::blocked(ValueId id) {
  if (const auto at = converted_.find(id); at != converted_.end()) return at->second.id;
  const auto [at, added] = reordered_.try_emplace(id, ValueId::kNone);
  if (!added) return at->second;
  Attributes attributes;
  attributes.set("block", block());
  ValueId source = transposed_from(graph_, id, {0, 3, 1, 2});
  if (source != ValueId::kNone) {
    attributes.set("channels_last", int64_t{1});
  } else {
    source = id;
  }
  const NodeId producer = graph_.value(id).producer;
  at->second = emit(producer == NodeId::kNone ? Node() : graph_.node(producer), "ReorderToBlocked",
                    {source}, std::move(attributes));
  return at->second;
}

void LayoutPass::convert(NodeId node, ValueId twin, int64_t channels) {
  converted_[graph_.node(node).output(0)] = {twin, channels};
  done_.push_back(node);
}

void LayoutPass::replace(NodeId node, ValueId result) {
  replace_value(graph_, graph_.node(node).output(0), result);
  graph_.remove_node(node);
}

bool LayoutPass::is_used_plain(ValueId id) const {
  const NodeIds& users = graph_.value(id).users;
  return std::none_of(users.begin(), users.end(),
                      [&](NodeId user) { return find_row(graph_.node(user)) != nullptr; });
}

void LayoutPass::restore_plain(ValueId plain, const BlockedValue& twin) {
  const Node from = graph_.node(graph_.value(plain).producer);
  Attributes attributes;
  attributes.set("block", block());
  attributes.set("channels", twin.channels);
  // Users that want channels last read them directly.
  for (NodeId user : NodeIds(graph_.value(plain).users)) {
    const Node& node = graph_.node(user);
    if (!node.is("Transpose") ||
        node.attributes.get_ints("perm") != std::vector<int64_t>{0, 2, 3, 1}) {
      continue;
    }
    Attributes last = attributes;
    last.set("channels_last", int64_t{1});
    const ValueId result = emit(from, "ReorderFromBlocked", {twin.id}, std::move(last));
    replace_value(graph_, node.output(0), result);
    graph_.remove_node(user);
  }
  if (graph_.use_count(plain) == 0) return;
  replace_value(graph_, plain, emit(from, "ReorderFromBlocked", {twin.id}, std::move(attributes)));
}

void LayoutPass::finish() {
  for (size_t i = done_.size(); i-- > 0;) {
    const NodeId id = done_[i];
    const ValueId plain = graph_.node(id).output(0);
    if (graph_.use_count(plain) != 0) restore_plain(plain, converted_.at(plain));
    graph_.remove_node(id);
  }
}

void lower_layout(Graph& graph, PassContext& context, const Target& target) {
  LayoutPass pass(graph, target);
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    const Node node = graph.node(id);
    if (!node.alive) continue;
    const Row* row = find_row(node);
    if (row == nullptr) continue;
    const char* reason = row->converter(pass, id, {context, node});
    if (reason != nullptr && *reason != '\0') context.reject(kName, reason, graph, id);
    if (!context.edits_left()) break;
  }
  pass.finish();
}

}  // namespace sardonyx::cpu
