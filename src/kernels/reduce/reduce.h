// Float reductions over one axis of an [outer, reduced, inner] view; the caller merges the axes.
// The order of additions depends on the reduced length and, for inner == 1, the vector width only:
// rows and inner positions may be split over threads freely. Long sums are added in chunks, so that
// the error grows with the square root of the length at worst. Called by the Reduce operators and
// GlobalAveragePool.
#pragma once

#include <cstdint>

#include "base/cpu.h"

namespace sardonyx::kernels {

enum class ReduceOp : uint8_t {
  kSum,
  kMean,  // sum / reduced
  kMax,   // NaN if any element is
  kMin,   // NaN if any element is
  kProd,
  kSumSquare,
  kL1,
  kL2,
  kLogSum,
  kLogSumExp,  // maximum subtracted where it is finite
  kCount
};

// An empty axis gives the identity: sum, squares and norms 0, product 1, maximum and logarithms
// -inf, minimum +inf, mean NaN.
struct ReduceArgs {
  int64_t outer = 0, reduced = 0, inner = 0;
  const float* in = nullptr;
  int64_t outer_stride = 0;    // floats between outer positions: reduced * inner when dense
  int64_t reduced_stride = 0;  // floats between steps of the reduced axis: inner when dense
  float* out = nullptr;
  int64_t out_stride = 0;  // floats between outer positions of out: inner when dense
};
using ReduceFunction = void (*)(const ReduceArgs& args);

struct ReduceKernels {
  ReduceFunction functions[static_cast<int>(ReduceOp::kCount)];
  ReduceFunction operator[](ReduceOp op) const { return functions[static_cast<int>(op)]; }
};

const ReduceKernels& reduce_kernels(Isa isa = best_isa());

// Arguments of a dense view.
inline ReduceArgs dense_reduce(const float* in, int64_t outer, int64_t reduced, int64_t inner,
                               float* out) {
  return {outer, reduced, inner, in, reduced * inner, inner, out, inner};
}

}  // namespace sardonyx::kernels
