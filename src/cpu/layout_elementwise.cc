// Activations, binary operators and Concat in blocked form.
#include "cpu/layout.h"
#include "ops/epilogue.h"
#include "passes/rules/params.h"

namespace sardonyx::cpu {

namespace {

// The BlockedBinary that makes `id` for nobody else and has no activation; kNone otherwise.
NodeId binary_to_extend(const Graph& graph, ValueId plain, ValueId twin) {
  const GraphValue& value = graph.value(twin);
  if (value.producer == NodeId::kNone || graph.use_count(plain) != 1) return NodeId::kNone;
  const Node& node = graph.node(value.producer);
  if (node.op != "BlockedBinary" || node.attributes.contains("activation")) return NodeId::kNone;
  return value.producer;
}

bool is_single(const GraphValue& value) {
  if (!value.type.is_tensor() || value.type.element != DataType::kFloat || !value.type.shape ||
      value.type.shape->size() > 4) {
    return false;
  }
  for (const Dim& dim : *value.type.shape) {
    if (!dim.is(1)) return false;
  }
  return true;
}

// [C, 1, 1] -> [1, C, 1, 1] and the like, for constants.
ValueId at_rank_four(Graph& graph, ValueId id) {
  const Tensor& tensor = graph.value(id).constant;
  if (!tensor.is_defined() || tensor.shape().size() >= 4) return id;
  Shape shape(4 - tensor.shape().size(), 1);
  for (int64_t dim : tensor.shape()) shape.push_back(dim);
  return graph.add_constant("", tensor.reshaped(shape));
}

// Is the spatial size of `id` known to be 1 x 1?
bool is_pixel(const Graph& graph, ValueId id) {
  const SymShape& shape = graph.value(id).type.shape;
  return shape && shape->size() == 4 && (*shape)[2].is(1) && (*shape)[3].is(1);
}

}  // namespace

const char* convert_unary(LayoutPass& pass, NodeId id, const Commit& commit) {
  const Node node = pass.graph().node(id);
  const ValueId x = node.input(0);
  if (!pass.is_blocked(x)) return "";
  const std::optional<kernels::Epilogue> activation = rules::activation_of(pass.graph(), node);
  if (!activation) return "parameters are computed";
  if (!commit()) return "";
  const int64_t channels = *pass.channels_of(x);
  const ValueId twin = pass.blocked(x);
  const NodeId binary = binary_to_extend(pass.graph(), x, twin);
  if (binary != NodeId::kNone) {
    set_epilogue(pass.graph().node(binary).attributes, *activation);
    pass.convert(id, twin, channels);
    return nullptr;
  }
  Attributes attributes;
  attributes.set("channels", channels);
  set_epilogue(attributes, *activation);
  pass.convert(id, pass.emit(node, "BlockedUnary", {twin}, std::move(attributes)), channels);
  return nullptr;
}

const char* convert_binary(LayoutPass& pass, NodeId id, const Commit& commit) {
  const Node node = pass.graph().node(id);
  ValueId a = node.input(0), b = node.input(1);
  if (!pass.is_blocked(a) && !pass.is_blocked(b)) return "";
  // The larger operand goes first.
  bool reverse = !pass.is_blocked(a);
  if (pass.is_blocked(a) && pass.is_blocked(b)) {
    reverse = is_pixel(pass.graph(), a) && !is_pixel(pass.graph(), b);
  }
  if (reverse) std::swap(a, b);
  const int64_t channels = *pass.channels_of(a);
  ValueId second = ValueId::kNone;
  if (is_single(pass.graph().value(b))) {
    // Also when channels is 1: the kernel takes one float.
    second = pass.is_blocked(b) ? ValueId::kNone : b;
  }
  if (second == ValueId::kNone) {
    const SymShape& shape = pass.graph().value(b).type.shape;
    const Tensor& tensor = pass.graph().value(b).constant;
    const bool small_rank = shape && shape->size() < 4;
    if (small_rank && !tensor.is_defined()) return "operand of another rank";
    if (small_rank) {
      const size_t rank = shape->size();
      if (tensor.type() != DataType::kFloat || rank != 3 || tensor.shape()[0] != channels) {
        return "operand of another rank";
      }
    } else if (pass.channels_of(b) != std::optional(channels)) {
      return "operand of other channels";
    }
    if (!commit()) return "";
    second = pass.blocked(at_rank_four(pass.graph(), b));
  } else if (!commit()) {
    return "";
  }
  Attributes attributes;
  attributes.set("op", node.op);
  attributes.set("channels", channels);
  if (reverse) attributes.set("reverse", int64_t{1});
  pass.convert(id,
               pass.emit(node, "BlockedBinary", {pass.blocked(a), second}, std::move(attributes)),
               channels);
  return nullptr;
}

const char* convert_concat(LayoutPass& pass, NodeId id, const Commit& commit) {
  const Node node = pass.graph().node(id);
  const int64_t axis = node.attributes.get_int("axis", 1);
  if (axis != 1 && axis != -3) return "";
  bool any = false;
  int64_t channels = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const std::optional<int64_t> part = pass.channels_of(node.inputs[i]);
    if (!part) return "part of unknown channels";
    if (i + 1 != node.inputs.size() && *part % pass.block() != 0) return "part of odd channels";
    any = any || pass.is_blocked(node.inputs[i]);
    channels += *part;
  }
  if (!any) return "";
  if (!commit()) return "";
  ValueIds parts;
  for (ValueId input : node.inputs) parts.push_back(pass.blocked(input));
  pass.convert(id, pass.emit(node, "BlockedConcat", parts, {}), channels);
  return nullptr;
}

}  // namespace sardonyx::cpu
