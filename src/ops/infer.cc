#include "ops/infer.h"

#include <fmt/format.h>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

bool holds_integers(const Tensor& tensor) {
  return (is_integer(tensor.type()) && !is_sub_byte(tensor.type())) ||
         tensor.type() == DataType::kBool;
}

void drop_unfit(InferOutput& output) {
  if (!output.ints || output.type.element == DataType::kUndefined) return;
  for (Dim& dim : *output.ints) {
    if (!fits_element(output.type.element, dim)) dim = Dim::unknown();
  }
}

}  // namespace

bool fits_element(DataType type, const Dim& dim) {
  if (!dim.is_known() || type == DataType::kInt64) return true;
  if (type == DataType::kUint64) return dim.value >= 0;
  const int bits = type == DataType::kBool ? 1 : bits_of(type);
  const bool is_unsigned = type == DataType::kUint8 || type == DataType::kUint16 ||
                           type == DataType::kUint32 || type == DataType::kBool;
  const int64_t high = (int64_t{1} << (is_unsigned ? bits : bits - 1)) - 1;
  return dim.value <= high && dim.value >= (is_unsigned ? 0 : -high - 1);
}

const SymShape& InferContext::input_shape(size_t i) const {
  static const SymShape& kNoShape = *new SymShape;
  return has_input(i) ? inputs_[i].type->shape : kNoShape;
}

std::optional<Dims> InferContext::input_ints(size_t i) const {
  if (!has_input(i)) return std::nullopt;
  const InferInput& input = inputs_[i];
  if (input.ints != nullptr) return *input.ints;
  if (input.constant != nullptr) {
    if (!holds_integers(*input.constant) || input.constant->size() > int64_t{kMaxTrackedInts}) {
      return std::nullopt;
    }
    Dims dims;
    // The upper half of uint64 has no Dim.
    const bool wide = input.constant->type() == DataType::kUint64;
    for (int64_t value : integer_values(*input.constant)) {
      dims.push_back(wide && value < 0 ? Dim::unknown() : Dim(value));
    }
    return dims;
  }
  const std::optional<Shape> shape = to_shape(input.type->shape);
  if (!shape || shape->size() > 1) return std::nullopt;
  const int64_t count = element_count(*shape);
  if (count < 0 || count > int64_t{kMaxTrackedInts}) return std::nullopt;
  return Dims(static_cast<size_t>(count), Dim::unknown());
}

std::optional<SmallVector<int64_t, 8>> InferContext::input_known_ints(size_t i) const {
  if (!has_input(i)) return std::nullopt;
  if (const Tensor* constant = inputs_[i].constant) {
    if (holds_integers(*constant) && constant->type() != DataType::kUint64) {
      return integer_values(*constant);
    }
  }
  const std::optional<Dims> dims = input_ints(i);
  if (!dims) return std::nullopt;
  SmallVector<int64_t, 8> values;
  for (const Dim& dim : *dims) {
    if (!dim.is_known()) return std::nullopt;
    values.push_back(dim.value);
  }
  return values;
}

std::optional<SmallVector<double, 8>> InferContext::input_floats(size_t i) const {
  const Tensor* constant = input_constant(i);
  if (constant == nullptr || constant->size() > int64_t{kMaxTrackedInts}) return std::nullopt;
  SmallVector<double, 8> values;
  if (constant->type() == DataType::kFloat) {
    for (float value : constant->values<float>()) values.push_back(value);
  } else if (constant->type() == DataType::kDouble) {
    for (double value : constant->values<double>()) values.push_back(value);
  } else {
    return std::nullopt;
  }
  return values;
}

void InferContext::set_output(size_t i, ValueType type) {
  if (i >= outputs_.size()) return;
  outputs_[i].type = std::move(type);
  drop_unfit(outputs_[i]);
}

void InferContext::set_output_ints(size_t i, Dims elements) {
  if (i >= outputs_.size() || elements.size() > kMaxTrackedInts) return;
  outputs_[i].ints = std::move(elements);
  drop_unfit(outputs_[i]);
}

std::vector<ValueType> InferContext::infer_subgraph(const Graph& body,
                                                    std::span<const ValueType> inputs) const {
  if (subgraph_infer_ == nullptr || !*subgraph_infer_) return {};
  return (*subgraph_infer_)(body, inputs);
}

void InferContext::fail(const std::string& message) const {
  std::string types;
  for (const InferInput& input : inputs_) {
    if (!types.empty()) types += ", ";
    types += input.type == nullptr ? "-" : print_type(*input.type, dims_);
  }
  throw Error(ErrorCode::kInvalidGraph,
              fmt::format("{}: {} (inputs: {})", describe(node_), message, types));
}

void InferContext::same_as_input(size_t i) {
  if (has_input(i)) set_output(0, input_type(i));
}

SymShape InferContext::broadcast_inputs(std::span<const size_t> inputs) {
  size_t rank = 0;
  for (size_t i : inputs) {
    const SymShape& shape = input_shape(i);
    if (!shape) return std::nullopt;
    rank = std::max(rank, shape->size());
  }
  Dims result(rank, Dim(1));
  for (size_t i : inputs) {
    const Dims& shape = *input_shape(i);
    const size_t offset = rank - shape.size();
    for (size_t d = 0; d < shape.size(); ++d) {
      const std::optional<Dim> dim = dims_.broadcast(result[offset + d], shape[d]);
      if (!dim) {
        fail(
            fmt::format("the input shapes do not broadcast: dimension {} is {} in one input and {} "
                        "in another",
                        offset + d, dims_.print(result[offset + d]), dims_.print(shape[d])));
      }
      result[offset + d] = *dim;
    }
  }
  return result;
}

int64_t InferContext::normalize_axis(int64_t axis, size_t rank) const {
  const auto limit = static_cast<int64_t>(rank);
  if (axis < -limit || axis >= limit) {
    fail(fmt::format("axis {} lies outside [{}, {}] of rank {}", axis, -limit, limit - 1, rank));
  }
  return axis < 0 ? axis + limit : axis;
}

}  // namespace sardonyx
