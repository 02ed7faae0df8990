// Constant nodes become constants, so that everything later sees one form. Runs at every level.
#include <span>

#include "passes/passes.h"

namespace sardonyx {
namespace {

template <typename T>
Tensor list_of(DataType type, const std::vector<T>& values) {
  return Tensor::from<T>(type, Shape{static_cast<int64_t>(values.size())},
                         std::span<const T>(values));
}

template <typename T>
Tensor scalar_tensor(DataType type, const T& value) {
  return Tensor::from<T>(type, Shape{}, std::span<const T>(&value, 1));
}

// Undefined for an attribute that is none of the ways to write a constant.
Tensor tensor_of(const std::string& name, const AttributeValue& value) {
  if (name == "value") {
    if (const auto* tensor = get_held<Tensor>(value)) return *tensor;
  } else if (name == "sparse_value") {
    if (const auto* sparse = get_held<SparseTensor>(value)) return sparse->to_dense();
  } else if (name == "value_float") {
    if (const auto* real = std::get_if<float>(&value)) {
      return scalar_tensor(DataType::kFloat, *real);
    }
  } else if (name == "value_floats") {
    if (const auto* reals = std::get_if<std::vector<float>>(&value)) {
      return list_of(DataType::kFloat, *reals);
    }
  } else if (name == "value_int") {
    if (const auto* number = std::get_if<int64_t>(&value)) {
      return scalar_tensor(DataType::kInt64, *number);
    }
  } else if (name == "value_ints") {
    if (const auto* numbers = std::get_if<std::vector<int64_t>>(&value)) {
      return list_of(DataType::kInt64, *numbers);
    }
  } else if (name == "value_string") {
    if (const auto* text = std::get_if<std::string>(&value)) {
      return scalar_tensor(DataType::kString, *text);
    }
  } else if (name == "value_strings") {
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
      return list_of(DataType::kString, *texts);
    }
  }
  return Tensor();
}

}  // namespace

void lift_constant_nodes(Graph& graph, PassContext& context) {
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    const Node& node = graph.node(id);
    if (!node.alive || !node.is("Constant") || node.output(0) == ValueId::kNone) continue;
    Tensor tensor;
    for (const auto& [name, value] : node.attributes) {
      if (!tensor.is_defined()) tensor = tensor_of(name, value);
    }
    if (!tensor.is_defined()) continue;
    if (!context.take_edit("constant_nodes", node)) return;
    graph.make_constant(node.output(0), std::move(tensor));
  }
}

}  // namespace sardonyx
