// Shape: the dimensions of a concrete tensor, outermost first. Dimensions are >= 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/small_vector.h"

namespace sardonyx {

using Shape = SmallVector<int64_t, 6>;

// Product of the dimensions; 1 for rank 0. nullopt when a dimension is negative or it overflows.
std::optional<int64_t> checked_element_count(const Shape& shape);

// The same for a shape that is known to be valid (no check).
inline int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (int64_t dim : shape) count *= dim;
  return count;
}

// Product of dimensions [begin, end).
inline int64_t element_count(const Shape& shape, size_t begin, size_t end) {
  int64_t count = 1;
  for (size_t i = begin; i < end; ++i) count *= shape[i];
  return count;
}

// "[2,3,4]"; "[]" for a scalar.
std::string to_string(const Shape& shape);

// The broadcast of two shapes by numpy's rules; nullopt when they do not match.
std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b);

}  // namespace sardonyx
