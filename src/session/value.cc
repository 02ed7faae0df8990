#include "sardonyx/value.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

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

std::string internal::describe(const Value& value) {
  switch (value.kind()) {
    case ValueKind::kNone:
      return "nothing";
    case ValueKind::kTensor:
      return name_of(value.element_type()) + to_string(Shape(value.shape()));
    case ValueKind::kSequence: {
      const std::vector<Value> items = value.items();
      if (items.empty()) return "an empty sequence";
      return fmt::format("seq({}) of {}", name_of(items[0].element_type()), items.size());
    }
    case ValueKind::kOptional: {
      const std::vector<Value> items = value.items();
      if (items.empty()) return "an empty optional";
      return fmt::format("optional({})", describe(items[0]));
    }
  }
  return "nothing";
}

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

Value Value::sequence(std::span<const Value> items) {
  std::vector<Tensor> tensors;
  for (const Value& item : items) {
    const auto refuse = [&](const char* what) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("Value::sequence: item {} is {}, expected {}", tensors.size(),
                              internal::describe(item), what));
    };
    if (item.kind() != ValueKind::kTensor) refuse("a tensor");
    if (item.element_type() != items[0].element_type()) {
      refuse(fmt::format("{} as item 0", name_of(items[0].element_type())).c_str());
    }
    tensors.push_back(internal::ValueAccess::unwrap(item));
  }
  return internal::ValueAccess::wrap(tensor_of_values(kSequenceType, tensors));
}

Value Value::optional(const Value& item) {
  if (item.kind() == ValueKind::kOptional) {
    throw Error(ErrorCode::kInvalidArgument,
                "Value::optional: the item is an optional, expected a tensor or a sequence");
  }
  const Tensor held = internal::ValueAccess::unwrap(item);
  return internal::ValueAccess::wrap(
      tensor_of_values(kOptionalType, {&held, item.has_value() ? size_t{1} : size_t{0}}));
}

bool Value::has_value() const noexcept { return impl_ != nullptr; }

ValueKind Value::kind() const noexcept {
  if (!impl_) return ValueKind::kNone;
  const DataType type = impl_->tensor.type();
  if (type == kSequenceType) return ValueKind::kSequence;
  return type == kOptionalType ? ValueKind::kOptional : ValueKind::kTensor;
}

std::vector<Value> Value::items() const {
  if (!impl_ || !holds_values(impl_->tensor.type())) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("Value::items: the value is {}, expected a sequence or optional",
                            internal::describe(*this)));
  }
  std::vector<Value> items;
  for (const Tensor& item : impl_->tensor.values<Tensor>()) {
    items.push_back(internal::ValueAccess::wrap(item));
  }
  return items;
}

ElementType Value::element_type() const noexcept {
  const Tensor* tensor = internal::ValueAccess::tensor_of(*this);
  return tensor ? tensor->type() : ElementType::kUndefined;
}

std::span<const int64_t> Value::shape() const noexcept {
  const Tensor* tensor = internal::ValueAccess::tensor_of(*this);
  if (!tensor) return {};
  return tensor->shape();
}

size_t Value::size() const noexcept {
  const Tensor* tensor = internal::ValueAccess::tensor_of(*this);
  return tensor ? static_cast<size_t>(tensor->size()) : 0;
}

size_t Value::size_bytes() const noexcept {
  const Tensor* tensor = internal::ValueAccess::tensor_of(*this);
  return tensor ? static_cast<size_t>(tensor->size_bytes()) : 0;
}

const void* Value::data() const noexcept {
  const Tensor* tensor = internal::ValueAccess::tensor_of(*this);
  return tensor ? tensor->raw() : nullptr;
}

void* Value::data() noexcept { return const_cast<void*>(std::as_const(*this).data()); }

void Value::require_type(ElementType wanted) const {
  if (kind() != ValueKind::kTensor || element_type() != wanted) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the value is {}, a tensor of {} was asked for",
                            internal::describe(*this), name_of(wanted)));
  }
}

}  // namespace sardonyx
