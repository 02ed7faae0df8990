// The inside of the public Value: an internal Tensor. Used by session (and the C ABI) to move
// between the two without copying.
#pragma once

#include "sardonyx/value.h"
#include "tensor/tensor.h"

namespace sardonyx {

struct Value::Impl {
  Tensor tensor;
};

namespace internal {

struct ValueAccess {
  static Value wrap(Tensor tensor) {
    Value value;
    if (tensor.is_defined()) {
      value.impl_ = std::make_shared<Value::Impl>(Value::Impl{std::move(tensor)});
    }
    return value;
  }
  // Null when it is none.
  static const Tensor* tensor_of(const Value& value) {
    const bool is_tensor = value.impl_ && !holds_values(value.impl_->tensor.type());
    return is_tensor ? &value.impl_->tensor : nullptr;
  }
  // An undefined tensor for an empty Value.
  static Tensor unwrap(const Value& value) { return value.impl_ ? value.impl_->tensor : Tensor(); }
};

// What a Value is, for messages: "float[2,3]", "seq(float) of 3", "an empty optional", "nothing".
std::string describe(const Value& value);

}  // namespace internal
}  // namespace sardonyx
