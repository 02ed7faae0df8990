#include "ops/shape/axis_parts.h"

#include <cstring>

namespace sardonyx {
namespace {

// Calls body(offset in the whole, offset in the part, elements) for each run of a part.
template <typename Body>
void for_each_run(const Shape& whole, size_t axis, int64_t begin, int64_t count, Body&& body) {
  const int64_t inner = element_count(whole, axis + 1, whole.size());
  const int64_t outer = element_count(whole, 0, axis);
  for (int64_t row = 0; row < outer; ++row) {
    body((row * whole[axis] + begin) * inner, row * count * inner, count * inner);
  }
}

}  // namespace

Tensor allocate_whole(DataType type, const Shape& shape) {
  Tensor whole = Tensor::allocate(type, shape);
  if (is_sub_byte(type) && whole.size() != 0) {
    std::memset(whole.raw(), 0, static_cast<size_t>(whole.size_bytes()));
  }
  return whole;
}

Tensor take_part(const Tensor& whole, size_t axis, int64_t begin, int64_t count) {
  Shape shape = whole.shape();
  shape[axis] = count;
  Tensor part = allocate_whole(whole.type(), shape);
  for_each_run(whole.shape(), axis, begin, count, [&](int64_t from, int64_t to, int64_t n) {
    copy_elements(whole.type(), whole.raw(), from, part.raw(), to, n);
  });
  return part;
}

void put_part(const Tensor& part, Tensor& whole, size_t axis, int64_t begin, int64_t count) {
  for_each_run(whole.shape(), axis, begin, count, [&](int64_t to, int64_t from, int64_t n) {
    copy_elements(whole.type(), part.raw(), from, whole.raw(), to, n);
  });
}

}  // namespace sardonyx
