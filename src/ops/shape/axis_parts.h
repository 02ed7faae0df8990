// A tensor cut along an axis, or put together along one. Used by operators on sequences and by
// control flow. Any element type, packed ones included.
#pragma once

#include "tensor/tensor.h"

namespace sardonyx {

// Positions [begin, begin + count) of `axis`, in memory of their own.
Tensor take_part(const Tensor& whole, size_t axis, int64_t begin, int64_t count);

// Writes `part` to positions [begin, begin + count) of `axis`. Its elements are those of such a
// part; its rank may be another.
void put_part(const Tensor& part, Tensor& whole, size_t axis, int64_t begin, int64_t count);

// A tensor for put_part: bits that pad packed elements are zero.
Tensor allocate_whole(DataType type, const Shape& shape);

}  // namespace sardonyx
