// Which scale belongs to which element of a quantised tensor: one for all, one for each index of an
// axis, or one for each block of consecutive indices of an axis. Shared by QuantizeLinear and
// DequantizeLinear.
#pragma once

#include "ops/op.h"

namespace sardonyx {

inline constexpr int64_t kQuantBlock = 256;  // elements that are worked on at once

// x is seen as [outer, size, inner] around the axis.
struct Granularity {
  enum class Kind : uint8_t { kTensor, kAxis, kBlock };
  Kind kind = Kind::kTensor;
  int64_t size = 1;
  int64_t inner = 1;
  int64_t block = 1;
  int64_t blocks = 1;  // scales along the axis

  // Writes what belongs to elements [begin, begin + n) of x: elements of `values`, which has the
  // shape of the scale.
  void load(const TensorView& values, int64_t begin, int64_t n, float* out) const;
};

// Fails when the shapes of x (input 0), the scale (1) and the zero point (2) do not belong
// together.
void check_granularity(const InferContext& context);
Granularity granularity_of(const ResolveContext& context);

// Elements [begin, begin + n) of any numeric type as floats.
void load_floats(DataType type, const void* data, int64_t begin, int64_t n, float* out);

}  // namespace sardonyx
