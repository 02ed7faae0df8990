// "conv_1d": convolutions of rank 3 become ones of rank 4 with a height of 1, which "layout" then
// gives blocked kernels. Chains of them stay at rank 4.
#include "cpu/lower.h"
#include "ops/resolve.h"
#include "passes/edit.h"

namespace sardonyx::cpu {
namespace {

constexpr const char* kName = "conv_1d";
constexpr int64_t kHeightAxis = 2;

bool is_convolution(const Node& node) {
  return node.is("Conv") || node.is("ConvTranspose") || node.is("FusedConv", kInternalDomain) ||
         node.is("FusedConvTranspose", kInternalDomain);
}

class Widening {
 public:
  explicit Widening(Graph& graph) : graph_(graph) {}

  const char* check(const Node& node) const {
    const GraphValue& weights = graph_.value(node.input(1));
    if (!weights.is_constant() || weights.constant.type() != DataType::kFloat) {
      return "weights are computed or of another type";
    }
    if (weights.constant.shape().size() != 3) return "other rank";
    const ValueType& x = graph_.value(node.input(0)).type;
    if (!x.shape || !(*x.shape)[1].is_known()) return "channels unknown";
    return nullptr;
  }

  void convert(NodeId id) {
    const Node from = graph_.node(id);
    Node node = from;
    const Tensor weights = graph_.value(from.input(1)).constant;
    const Shape& w = weights.shape();
    node.inputs[0] = widened(from, from.input(0));
    node.inputs[1] = graph_.add_constant("", weights.reshaped(Shape{w[0], w[1], 1, w[2]}));
    if (from.input(3) != ValueId::kNone) node.inputs[3] = widened(from, from.input(3));
    for (const auto& [name, value] : {std::pair{"kernel_shape", 1},
                                      {"strides", 1},
                                      {"dilations", 1},
                                      {"output_padding", 0},
                                      {"output_shape", 1}}) {
      std::vector<int64_t> ints = from.attributes.get_ints(name);
      if (ints.empty()) continue;
      ints.insert(ints.begin(), value);
      node.attributes.set(name, std::move(ints));
    }
    if (const std::vector<int64_t> pads = from.attributes.get_ints("pads"); !pads.empty()) {
      node.attributes.set("pads", std::vector<int64_t>{0, pads[0], 0, pads[1]});
    }
    node.outputs = {graph_.add_value("")};
    const ValueId wide = node.outputs[0];
    infer_node(graph_, graph_.add_node(std::move(node)));
    replace_value(graph_, from.output(0), emit(from, "Squeeze", wide));
    graph_.remove_node(id);
  }

 private:
  // The value of rank 4 behind one of rank 3.
  ValueId widened(const Node& user, ValueId id) {
    const NodeId producer = graph_.value(id).producer;
    if (producer != NodeId::kNone) {
      const Node& node = graph_.node(producer);
      if (node.is("Squeeze") && node.input(1) == axis_) return node.input(0);
    }
    return emit(user, "Unsqueeze", id);
  }

  ValueId emit(const Node& from, const char* op, ValueId input) {
    if (axis_ == ValueId::kNone) {
      Tensor axis = Tensor::allocate(DataType::kInt64, {1});
      *axis.data<int64_t>() = kHeightAxis;
      axis_ = graph_.add_constant("", std::move(axis));
    }
    Node node;
    node.op = op;
    node.version = 13;
    node.name = from.name;
    node.inputs = {input, axis_};
    node.outputs = {graph_.add_value("")};
    const ValueId out = node.outputs[0];
    infer_node(graph_, graph_.add_node(std::move(node)));
    return out;
  }

  Graph& graph_;
  ValueId axis_ = ValueId::kNone;
};

}  // namespace

void widen_conv_1d(Graph& graph, PassContext& context, const Target&) {
  Widening widening(graph);
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    const Node node = graph.node(id);
    if (!node.alive || !is_convolution(node)) continue;
    if (const char* reason = widening.check(node)) {
      context.reject(kName, reason, graph, id);
      continue;
    }
    if (!context.take_edit(kName, node)) return;
    widening.convert(id);
  }
}

}  // namespace sardonyx::cpu
