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
  // An undefined tensor for an empty Value.
  static Tensor unwrap(const Value& value) { return value.impl_ ? value.impl_->tensor : Tensor(); }
};

}  // namespace internal
}  // namespace sardonyx
