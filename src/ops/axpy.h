// y += a * x over contiguous elements: the inner loop of the plain matrix products and
// convolutions, in the compiler's 16-byte vectors. Integers must be unsigned.
#pragma once

#include <cstdint>
#include <cstring>

namespace sardonyx {

namespace axpy_detail {

template <typename T>
struct Lanes {
  typedef T Vector __attribute__((vector_size(16)));
  static constexpr int64_t kCount = 16 / sizeof(T);

  static Vector load(const T* from) {
    Vector v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }
  static void store(const Vector& v, T* to) { std::memcpy(to, &v, sizeof v); }
};

}  // namespace axpy_detail

template <typename T>
inline void axpy(int64_t count, T a, const T* x, T* y) {
  using L = axpy_detail::Lanes<T>;
  int64_t i = 0;
  for (; i + 2 * L::kCount <= count; i += 2 * L::kCount) {
    const int64_t j = i + L::kCount;
    const auto low = L::load(y + i) + a * L::load(x + i);
    const auto high = L::load(y + j) + a * L::load(x + j);
    L::store(low, y + i);
    L::store(high, y + j);
  }
  for (; i < count; ++i) y[i] += a * x[i];
}

// y += a[0] * x[0..] + a[1] * x[stride..] + a[2] * x[2 * stride..] + a[3] * x[3 * stride..].
template <typename T>
inline void axpy4(int64_t count, const T (&a)[4], const T* x, int64_t stride, T* y) {
  using L = axpy_detail::Lanes<T>;
  const T *x1 = x + stride, *x2 = x1 + stride, *x3 = x2 + stride;
  int64_t i = 0;
  for (; i + L::kCount <= count; i += L::kCount) {
    const auto sum = (a[0] * L::load(x + i) + a[1] * L::load(x1 + i)) +
                     (a[2] * L::load(x2 + i) + a[3] * L::load(x3 + i));
    L::store(L::load(y + i) + sum, y + i);
  }
  for (; i < count; ++i) {
    y[i] += (a[0] * x[i] + a[1] * x1[i]) + (a[2] * x2[i] + a[3] * x3[i]);
  }
}

}  // namespace sardonyx
