// y += a * x over contiguous elements: the inner loop of the plain matrix products and
// convolutions, in blocks that the compiler turns into vector code.
#pragma once

#include <cstdint>

namespace sardonyx {

template <typename T>
inline void axpy(int64_t count, T a, const T* __restrict x, T* __restrict y) {
  constexpr int64_t kBlock = 64 / sizeof(T);
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    for (int64_t j = 0; j < kBlock; ++j) y[i + j] += a * x[i + j];
  }
  for (; i < count; ++i) y[i] += a * x[i];
}

}  // namespace sardonyx
