#include "sardonyx/value.h"

#include <fmt/format.h>

#include <cstring>

#include "session/value_access.h"

namespace sardonyx {
namespace {

Shape checked_shape(std::span<const int64_t> dims, ElementType type) {
  const Shape shape(dims);
  const std::optional<int64_t> count = checked_element_count(shape);
  if (!is_data_type(static_cast<int64_t>(type)) || !count || !storage_bytes(type, *count)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("a {} tensor of shape {} has no valid size; dimensions must be >= 0 and "
                    "their product must fit 63 bits",
                    name_of(type), to_string(shape)));
  }
  return shape;
}

}  // namespace

Value::Value() = default;
Value::~Value() = default;
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;

Value Value::tensor(ElementType type, std::span<const int64_t> shape) {
  Tensor tensor = Tensor::allocate(type, checked_shape(shape, type));
  if (type != ElementType::kString && tensor.size() != 0) {
    std::memset(tensor.raw(), 0, static_cast<size_t>(tensor.size_bytes()));
  }
  return internal::ValueAccess::wrap(std::move(tensor));
}

Value Value::view(ElementType type, std::span<const int64_t> shape, void* data, size_t size_bytes) {
  const Shape checked = checked_shape(shape, type);
  const auto needed = static_cast<size_t>(*storage_bytes(type, element_count(checked)));
  if (size_bytes < needed || (data == nullptr && needed != 0)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("Value::view: a {} tensor of shape {} needs {} bytes, the buffer {}",
                            name_of(type), to_string(checked), needed,
                            data == nullptr ? "is null" : fmt::format("holds {}", size_bytes)));
  }
  return internal::ValueAccess::wrap(Tensor::view(type, checked, data));
}

bool Value::has_value() const noexcept { return impl_ != nullptr; }

ElementType Value::element_type() const noexcept {
  return impl_ ? impl_->tensor.type() : ElementType::kUndefined;
}

std::span<const int64_t> Value::shape() const noexcept {
  if (!impl_) return {};
  return impl_->tensor.shape();
}

size_t Value::size() const noexcept {
  return impl_ ? static_cast<size_t>(impl_->tensor.size()) : 0;
}

size_t Value::size_bytes() const noexcept {
  return impl_ ? static_cast<size_t>(impl_->tensor.size_bytes()) : 0;
}

const void* Value::data() const noexcept { return impl_ ? impl_->tensor.raw() : nullptr; }

void* Value::data() noexcept { return impl_ ? impl_->tensor.raw() : nullptr; }

void Value::require_type(ElementType wanted) const {
  if (element_type() != wanted) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("the tensor holds {}, {} was asked for",
                                                         name_of(element_type()), name_of(wanted)));
  }
}

}  // namespace sardonyx
