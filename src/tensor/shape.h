// Shape: the dimensions of a concrete tensor, outermost first. Dimensions are >= 0.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "base/small_vector.h"

namespace sardonyx {

using Shape = SmallVector<int64_t, 6>;

// Product of the dimensions; 1 for rank 0. nullopt when a dimension is negative or it overflows.
std::optional<int64_t> checked_element_count(const Shape& shape);

// Product of dimensions [begin, end), none of them negative; the largest int64_t when it overflows,
// as it may in a shape that nothing has checked yet, or behind a dimension of 0.
inline int64_t element_count(const Shape& shape, size_t begin, size_t end) {
  int64_t count = 1;
  bool overflows = false;
  for (size_t i = begin; i < end; ++i) {
    if (shape[i] == 0) return 0;
    overflows |= __builtin_mul_overflow(count, shape[i], &count);
  }
  return overflows ? std::numeric_limits<int64_t>::max() : count;
}

// Of all dimensions.
inline int64_t element_count(const Shape& shape) { return element_count(shape, 0, shape.size()); }

// "[2,3,4]"; "[]" for a scalar.
std::string to_string(const Shape& shape);

// The broadcast of two shapes by numpy's rules; nullopt when they do not match.
std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b);

}  // namespace sardonyx
