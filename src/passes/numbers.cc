#include "passes/numbers.h"

#include "ir/text_element.h"

namespace sardonyx::rules {
namespace {

template <typename T>
std::vector<double> widen_all(const Tensor& tensor) {
  const std::span<const T> values = tensor.values<T>();
  return {values.begin(), values.end()};
}

std::vector<double> decode_all(const Tensor& tensor) {
  std::vector<double> result;
  for (uint16_t bits : tensor.values<uint16_t>()) {
    result.push_back(decode_small_float(tensor.type(), bits));
  }
  return result;
}

std::optional<std::vector<double>> read_numbers(const Tensor& tensor) {
  switch (tensor.type()) {
    case DataType::kBool:
    case DataType::kUint8:
      return widen_all<uint8_t>(tensor);
    case DataType::kInt8:
      return widen_all<int8_t>(tensor);
    case DataType::kUint16:
      return widen_all<uint16_t>(tensor);
    case DataType::kInt16:
      return widen_all<int16_t>(tensor);
    case DataType::kInt32:
      return widen_all<int32_t>(tensor);
    case DataType::kInt64:
      return widen_all<int64_t>(tensor);
    case DataType::kUint32:
      return widen_all<uint32_t>(tensor);
    case DataType::kUint64:
      return widen_all<uint64_t>(tensor);
    default:
      return read_floats(tensor);
  }
}

}  // namespace

std::optional<std::vector<double>> read_floats(const Tensor& tensor) {
  switch (tensor.type()) {
    case DataType::kFloat:
      return widen_all<float>(tensor);
    case DataType::kDouble:
      return widen_all<double>(tensor);
    case DataType::kFloat16:
    case DataType::kBfloat16:
      return decode_all(tensor);
    default:
      return std::nullopt;
  }
}

std::optional<Tensor> write_floats(DataType type, const Shape& shape,
                                   std::span<const double> values) {
  const bool known = type == DataType::kFloat || type == DataType::kDouble ||
                     type == DataType::kFloat16 || type == DataType::kBfloat16;
  if (!known) return std::nullopt;
  Tensor tensor = Tensor::allocate(type, shape);
  for (size_t i = 0; i < values.size(); ++i) {
    switch (type) {
      case DataType::kFloat:
        tensor.data<float>()[i] = static_cast<float>(values[i]);
        break;
      case DataType::kDouble:
        tensor.data<double>()[i] = values[i];
        break;
      default:
        tensor.data<uint16_t>()[i] = static_cast<uint16_t>(encode_small_float(type, values[i]));
        break;
    }
  }
  return tensor;
}

std::optional<double> scalar_of(const Tensor& tensor) {
  if (!tensor.is_defined() || tensor.size() != 1) return std::nullopt;
  const auto numbers = read_numbers(tensor);
  return numbers ? std::optional<double>(numbers->front()) : std::nullopt;
}

bool all_equal(const Tensor& tensor, double value) {
  if (!tensor.is_defined() || tensor.size() == 0) return false;
  const auto numbers = read_numbers(tensor);
  if (!numbers) return false;
  for (double number : *numbers) {
    if (number != value) return false;
  }
  return true;
}

}  // namespace sardonyx::rules
