// What operators of one operand share. A float operator is a row: its float kernel, its exact
// formula in double; float16 and bfloat16 go through the float kernel.
#pragma once

#include <memory>

#include "kernels/elementwise/elementwise.h"
#include "ops/op.h"

namespace sardonyx {

struct UnaryRow {
  kernels::UnaryOp kernel;
  double (*in_double)(double x, double alpha, double beta);
  double nanoseconds;  // per element, of the float kernel
};

// float, double, float16, bfloat16. Throws as PrepareContext::unsupported for other types.
std::unique_ptr<Kernel> prepare_unary(const PrepareContext& context, const UnaryRow& row,
                                      double alpha = 0, double beta = 0);

// n elements at in and out, which may be equal.
using UnaryLoop = void (*)(const void* in, void* out, int64_t n);
// A kernel of elements of `element_bytes` (1, 2, 4, 8).
std::unique_ptr<Kernel> make_unary_kernel(UnaryLoop loop, int element_bytes, double nanoseconds);

// Output 0 has the type of input 0.
inline void infer_unary(InferContext& context) { context.same_as_input(0); }

}  // namespace sardonyx
