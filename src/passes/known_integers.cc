// Integers known from inference become constants: Shape of static dimensions and the arithmetic on
// it (Gather, Slice, Concat, Mul, Cast ...), however the values were come by. What only they needed
// falls to dead_code.
#include "ir/type.h"
#include "passes/passes.h"

namespace sardonyx {
namespace {

std::optional<Tensor> tensor_of(const GraphValue& value) {
  if (!value.type.is_tensor() || !value.ints) return std::nullopt;
  const std::optional<Shape> shape = to_shape(value.type.shape);
  if (!shape || element_count(*shape) != static_cast<int64_t>(value.ints->size())) {
    return std::nullopt;
  }
  const DataType type = value.type.element;
  if (type != DataType::kInt64 && type != DataType::kInt32 && type != DataType::kBool) {
    return std::nullopt;
  }
  for (const Dim& dim : *value.ints) {
    if (!dim.is_known()) return std::nullopt;
  }
  Tensor tensor = Tensor::allocate(type, *shape);
  for (size_t i = 0; i < value.ints->size(); ++i) {
    const int64_t number = (*value.ints)[i].value;
    if (type == DataType::kInt64) {
      tensor.data<int64_t>()[i] = number;
    } else if (type == DataType::kInt32) {
      tensor.data<int32_t>()[i] = static_cast<int32_t>(number);
    } else {
      tensor.data<uint8_t>()[i] = number != 0;
    }
  }
  return tensor;
}

}  // namespace

void fold_known_integers(Graph& graph, PassContext& context) {
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    if (!graph.node(id).alive) continue;
    const ValueIds outputs = graph.node(id).outputs;
    for (ValueId out : outputs) {
      if (out == ValueId::kNone || graph.use_count(out) == 0) continue;
      std::optional<Tensor> tensor = tensor_of(graph.value(out));
      if (!tensor) continue;
      if (!context.take_edit("known_integers", graph.node(id))) return;
      graph.make_constant(out, std::move(*tensor));
    }
  }
}

}  // namespace sardonyx
