#include "ops/elementwise/narrow.h"

#include "tensor/numeric.h"

namespace sardonyx {

void widen(DataType type, const void* from, float* to, int64_t n) {
  if (type == DataType::kFloat16) {
    const auto* values = static_cast<const Float16*>(from);
    for (int64_t i = 0; i < n; ++i) to[i] = values[i];
  } else {
    const auto* values = static_cast<const Bfloat16*>(from);
    for (int64_t i = 0; i < n; ++i) to[i] = values[i];
  }
}

void round_back(DataType type, const float* from, void* to, int64_t n) {
  if (type == DataType::kFloat16) {
    auto* values = static_cast<Float16*>(to);
    for (int64_t i = 0; i < n; ++i) values[i] = Float16::from(from[i]);
  } else {
    auto* values = static_cast<Bfloat16*>(to);
    for (int64_t i = 0; i < n; ++i) values[i] = Bfloat16::from(from[i]);
  }
}

}  // namespace sardonyx
