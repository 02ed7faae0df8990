// Small things that operators on indices share: a shape around one axis, reading an index of either
// type, and the error for one outside its axis.
#pragma once

#include <fmt/format.h>

#include "ops/kernel.h"

namespace sardonyx {

// [outer, size, inner] around an axis. A lane is what runs along it: there are outer * inner.
struct Lanes {
  int64_t outer = 1, size = 1, inner = 1;

  int64_t count() const { return outer * inner; }
  // Of the lane's first element; its elements are `inner` apart.
  int64_t start(int64_t lane) const { return lane / inner * size * inner + lane % inner; }
};

// `axis` may count from the back.
inline Lanes lanes_of(const Shape& shape, int64_t axis) {
  const auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis);
  return {element_count(shape, 0, at), shape[at], element_count(shape, at + 1, shape.size())};
}

// Element i of a tensor of int32 or int64.
inline int64_t index_at(const TensorView& indices, int64_t i) {
  return indices.type == DataType::kInt32 ? indices.as<int32_t>()[i] : indices.as<int64_t>()[i];
}

inline Status index_outside(const char* op, int64_t index, int64_t size) {
  return Status(ErrorCode::kInvalidArgument,
                fmt::format("{}: index {} lies outside [{}, {}]", op, index, -size, size - 1));
}

// Counted from the front; false when it lies outside.
inline bool wrap_index(int64_t& index, int64_t size) {
  if (index < -size || index >= size) return false;
  if (index < 0) index += size;
  return true;
}

}  // namespace sardonyx
