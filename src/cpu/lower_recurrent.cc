#include "cpu/lower.h"
#include "ops/resolve.h"
#include "ops/rnn/packed_matrices.h"
#include "ops/rnn/panel_product.h"
#include "ops/typed.h"

namespace sardonyx::cpu {
namespace {

constexpr const char* kName = "pack_recurrent";

struct Row {
  const char* op;
  const char* packed_op;
  std::span<const int> gates;  // of each matrix of R
};

constexpr Row kRows[] = {
    {"LSTM", "PackedLSTM", kLstmGates},
    {"GRU", "PackedGRU", kGruGates},
    {"RNN", "PackedRNN", kRnnGates},
};

const Row* find_row(const Node& node) {
  for (const Row& row : kRows) {
    if (node.is(row.op)) return &row;
  }
  return nullptr;
}

// nullptr when both can be packed.
const char* check(const Graph& graph, const Node& node) {
  for (size_t i : {1, 2}) {
    const GraphValue& weights = graph.value(node.input(i));
    if (!weights.is_constant()) return "W or R is computed";
    if (weights.constant.shape().size() != 3) return "rank";
    if (weights.constant.size() == 0) return "empty";
  }
  return nullptr;
}

// The weights in the type that the kernel computes in.
ValueId widened(Graph& graph, ValueId id, DataType type) {
  const Tensor from = graph.value(id).constant;
  if (from.type() == type) return id;
  Tensor wide = Tensor::allocate(type, from.shape());
  float* to = wide.data<float>();
  visit_floats(from.type(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    for (const T& value : from.values<T>()) *to++ = static_cast<float>(value);
  });
  return graph.add_constant("", std::move(wide));
}

ValueId pack(Graph& graph, const Node& user, ValueId weights, std::span<const int> gates,
             int64_t nr) {
  Node node;
  node.domain = kInternalDomain;
  node.op = "PackRecurrent";
  node.version = 1;
  node.name = user.name;
  node.inputs = {weights};
  node.outputs = {graph.add_value("")};
  node.attributes.set("gates", std::vector<int64_t>(gates.begin(), gates.end()));
  node.attributes.set("nr", nr);
  const ValueId packed = node.outputs[0];
  infer_node(graph, graph.add_node(std::move(node)));
  return packed;
}

void lower_node(Graph& graph, const Target& target, const Row& row, NodeId id) {
  const Node node = graph.node(id);
  const Shape w = graph.value(node.input(1)).constant.shape();
  const Shape r = graph.value(node.input(2)).constant.shape();
  const bool is_double = graph.value(node.input(1)).type.element == DataType::kDouble;
  const DataType type = is_double ? DataType::kDouble : DataType::kFloat;
  const int64_t nr =
      is_double ? PanelProduct<double>(target.isa).nr() : PanelProduct<float>(target.isa).nr();
  const int all_gates[] = {static_cast<int>(w[1] / r[2])};

  Node packed = node;
  packed.domain = kInternalDomain;
  packed.op = row.packed_op;
  packed.version = 1;
  packed.inputs[1] = pack(graph, node, widened(graph, node.input(1), type), all_gates, nr);
  packed.inputs[2] = pack(graph, node, widened(graph, node.input(2), type), row.gates, nr);
  packed.attributes.erase("output_sequence");  // of old versions, says nothing
  packed.attributes.set("hidden_size", r[2]);
  packed.attributes.set("input_size", w[2]);
  packed.attributes.set("nr", nr);
  replace_node(graph, id, std::move(packed));
}

}  // namespace

void pack_recurrent(Graph& graph, PassContext& context, const Target& target) {
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    const Node& node = graph.node(id);
    if (!node.alive) continue;
    const Row* row = find_row(node);
    if (row == nullptr) continue;
    if (const char* reason = check(graph, node)) {
      context.reject(kName, reason, graph, id);
      continue;
    }
    if (!context.take_edit(kName, node)) return;
    lower_node(graph, target, *row, id);
  }
}

}  // namespace sardonyx::cpu
