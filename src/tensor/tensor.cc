#include "tensor/tensor.h"

#include <fmt/format.h>

#include <cstring>
#include <new>
#include <tuple>
#include <utility>

#include "sardonyx/error.h"
#include "tensor/memory.h"

namespace sardonyx {

namespace {
template <typename T>
std::pair<void*, std::shared_ptr<const void>> allocate_objects(int64_t count) {
  MemoryCharge charge = MemoryCharge::on_current(count * static_cast<int64_t>(sizeof(T)));
  auto objects = std::make_shared<T[]>(static_cast<size_t>(count));
  return {objects.get(), std::move(charge).with(std::shared_ptr<void>(objects, objects.get()))};
}
}  // namespace

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
  if (holds_objects(type)) {
    std::tie(tensor.data_, tensor.owner_) = type == DataType::kString
                                                ? allocate_objects<std::string>(*count)
                                                : allocate_objects<Tensor>(*count);
    return tensor;
  }
  std::shared_ptr<void> memory = allocate_block(*bytes);
  if (memory == nullptr) {
    throw Error(ErrorCode::kFail, fmt::format("out of memory: {} bytes for a {} tensor of shape {}",
                                              *bytes, name_of(type), to_string(shape)));
  }
  tensor.data_ = memory.get();
  tensor.owner_ = std::move(memory);
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
  if (holds_values(type_)) {
    for (int64_t i = 0; i < size(); ++i) copy.data<Tensor>()[i] = data<Tensor>()[i].clone();
  } else {
    copy_contents(type_, raw(), copy.raw(), size());
  }
  return copy;
}

Tensor Tensor::made_own() && {
  if (!is_defined()) return Tensor();
  const bool is_own = owner_ && owner_.use_count() == 1;
  if (!is_own && !holds_values(type_)) return clone();
  Tensor own = is_own ? std::move(*this) : tensor_of_values(type_, values<Tensor>());
  if (!holds_values(own.type_)) return own;
  for (int64_t i = 0; i < own.size(); ++i) {
    Tensor& item = own.data<Tensor>()[i];
    item = std::move(item).made_own();
  }
  return own;
}

namespace {
template <typename T>
void copy_objects(const void* from, int64_t from_at, void* to, int64_t to_at, int64_t count) {
  std::copy_n(static_cast<const T*>(from) + from_at, count, static_cast<T*>(to) + to_at);
}

void copy_packed(int bits, const uint8_t* from, int64_t from_at, uint8_t* to, int64_t to_at,
                 int64_t count) {
  const int per_byte = 8 / bits;
  const int mask = (1 << bits) - 1;
  int64_t i = 0;
  if (from_at % per_byte == 0 && to_at % per_byte == 0) {
    i = count / per_byte * per_byte;
    std::memcpy(to + to_at / per_byte, from + from_at / per_byte,
                static_cast<size_t>(i / per_byte));
  }
  for (; i < count; ++i) {
    const auto from_shift = static_cast<int>((from_at + i) % per_byte) * bits;
    const auto to_shift = static_cast<int>((to_at + i) % per_byte) * bits;
    const int element = from[(from_at + i) / per_byte] >> from_shift & mask;
    uint8_t& byte = to[(to_at + i) / per_byte];
    byte = static_cast<uint8_t>((byte & ~(mask << to_shift)) | element << to_shift);
  }
}
}  // namespace

void copy_elements(DataType type, const void* from, int64_t from_at, void* to, int64_t to_at,
                   int64_t count) {
  if (count == 0) return;
  if (type == DataType::kString) return copy_objects<std::string>(from, from_at, to, to_at, count);
  if (holds_values(type)) return copy_objects<Tensor>(from, from_at, to, to_at, count);
  if (is_sub_byte(type)) {
    return copy_packed(bits_of(type), static_cast<const uint8_t*>(from), from_at,
                       static_cast<uint8_t*>(to), to_at, count);
  }
  const int64_t width = bits_of(type) / 8;
  std::memcpy(static_cast<std::byte*>(to) + to_at * width,
              static_cast<const std::byte*>(from) + from_at * width,
              static_cast<size_t>(count * width));
}

void copy_contents(DataType type, const void* from, void* to, int64_t count) {
  if (!is_sub_byte(type)) return copy_elements(type, from, 0, to, 0, count);
  copy_elements(DataType::kUint8, from, 0, to, 0, *storage_bytes(type, count));
}

Tensor tensor_of_values(DataType type, std::span<const Tensor> items) {
  Tensor result = Tensor::allocate(type, Shape{static_cast<int64_t>(items.size())});
  std::copy(items.begin(), items.end(), result.data<Tensor>());
  return result;
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
  if (holds_values(a.type())) {
    return std::equal(a.data<Tensor>(), a.data<Tensor>() + a.size(), b.data<Tensor>(),
                      bitwise_equal);
  }
  return std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.size_bytes())) == 0;
}

}  // namespace sardonyx
