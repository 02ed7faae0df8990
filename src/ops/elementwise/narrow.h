// float16 and bfloat16 by way of float: blocks are widened into a buffer on the stack, the float
// kernel runs, the result is rounded back.
#pragma once

#include <cstdint>

#include "tensor/data_type.h"

namespace sardonyx {

inline constexpr int64_t kNarrowBlock = 512;  // elements

inline bool is_narrow(DataType type) {
  return type == DataType::kFloat16 || type == DataType::kBfloat16;
}

// `type` is one of the two; n elements.
void widen(DataType type, const void* from, float* to, int64_t n);
void round_back(DataType type, const float* from, void* to, int64_t n);

}  // namespace sardonyx
