#include "tensor/tensor.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "sardonyx/error.h"

namespace sardonyx {

Tensor Tensor::allocate(DataType type, const Shape& shape) {
  const std::optional<int64_t> count = checked_element_count(shape);
  const std::optional<int64_t> bytes = count ? storage_bytes(type, *count) : std::nullopt;
  if (!bytes) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("a {} tensor of shape {} has no valid size", name_of(type), to_string(shape)));
  }
  Tensor tensor;
  tensor.type_ = type;
  tensor.shape_ = shape;
  tensor.private_ = true;
  if (type == DataType::kString) {
    auto strings = std::make_shared<std::string[]>(static_cast<size_t>(*count));
    tensor.data_ = strings.get();
    tensor.owner_ = std::shared_ptr<const void>(strings, strings.get());
    return tensor;
  }
  const size_t rounded =
      (static_cast<size_t>(*bytes) + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
  void* memory = std::aligned_alloc(kTensorAlignment, rounded == 0 ? kTensorAlignment : rounded);
  if (memory == nullptr) {
    throw Error(ErrorCode::kFail, fmt::format("out of memory: {} bytes for a {} tensor of shape {}",
                                              *bytes, name_of(type), to_string(shape)));
  }
  tensor.data_ = memory;
  tensor.owner_ =
      std::shared_ptr<const void>(memory, [](const void* p) { std::free(const_cast<void*>(p)); });
  return tensor;
}

Tensor Tensor::view(DataType type, const Shape& shape, void* data,
                    std::shared_ptr<const void> owner) {
  Tensor tensor;
  tensor.type_ = type;
  tensor.shape_ = shape;
  tensor.data_ = data;
  tensor.owner_ = std::move(owner);
  return tensor;
}

Tensor Tensor::clone() const {
  if (!is_defined()) return Tensor();
  Tensor copy = allocate(type_, shape_);
  if (type_ == DataType::kString) {
    std::copy_n(data<std::string>(), size(), copy.data<std::string>());
  } else if (size_bytes() != 0) {
    std::memcpy(copy.raw(), raw(), static_cast<size_t>(size_bytes()));
  }
  return copy;
}

namespace {
template <typename T>
SmallVector<int64_t, 8> widen(const Tensor& tensor) {
  SmallVector<int64_t, 8> values;
  for (T value : tensor.values<T>()) values.push_back(static_cast<int64_t>(value));
  return values;
}
}  // namespace

SmallVector<int64_t, 8> integer_values(const Tensor& tensor) {
  switch (tensor.type()) {
    case DataType::kInt64:
      return widen<int64_t>(tensor);
    case DataType::kInt32:
      return widen<int32_t>(tensor);
    case DataType::kInt16:
      return widen<int16_t>(tensor);
    case DataType::kInt8:
      return widen<int8_t>(tensor);
    case DataType::kUint64:
      return widen<uint64_t>(tensor);
    case DataType::kUint32:
      return widen<uint32_t>(tensor);
    case DataType::kUint16:
      return widen<uint16_t>(tensor);
    case DataType::kUint8:
    case DataType::kBool:
      return widen<uint8_t>(tensor);
    default:
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("expected an integer tensor, got {}", name_of(tensor.type())));
  }
}

bool bitwise_equal(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || !(a.shape() == b.shape())) return false;
  if (!a.is_defined() || a.size() == 0) return true;
  if (a.type() == DataType::kString) {
    return std::equal(a.data<std::string>(), a.data<std::string>() + a.size(),
                      b.data<std::string>());
  }
  return std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.size_bytes())) == 0;
}

}  // namespace sardonyx
