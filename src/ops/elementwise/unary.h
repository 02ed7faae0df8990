// What operators of one operand share. A float operator is a row: its float kernel, its exact
// formula in double; float16 and bfloat16 go through the float kernel.
#pragma once

#include <memory>

#include "kernels/elementwise/elementwise.h"
#include "ops/op.h"
#include "ops/typed.h"

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

template <typename Op, typename T>
void unary_loop(const void* in, void* out, int64_t n) {
  const T* from = static_cast<const T*>(in);
  T* to = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = from_compute<T>(Op::apply(to_compute(from[i])));
}

// Op::apply for float and double, float16 and bfloat16 by way of float. Throws as prepare_unary.
template <typename Op>
std::unique_ptr<Kernel> prepare_float_loop(const PrepareContext& context, double nanoseconds) {
  std::unique_ptr<Kernel> kernel;
  visit_floats(context.input_element(0), [&]<typename T>(TypeTag<T>) {
    kernel = make_unary_kernel(unary_loop<Op, T>, sizeof(T), nanoseconds);
  });
  if (!kernel) context.unsupported("float, double, float16, bfloat16");
  return kernel;
}

// Output 0 has the type of input 0.
inline void infer_unary(InferContext& context) { context.same_as_input(0); }

// The row of an operator of one operand whose result may take the operand's place.
constexpr OpDef unary_op(std::string_view name, std::span<const OpVersion> versions,
                         std::unique_ptr<Kernel> (*prepare)(const PrepareContext&),
                         uint32_t more_traits = 0) {
  return {.domain = "",
          .name = name,
          .versions = versions,
          .traits = kElementwise | more_traits,
          .in_place = 0b1,
          .infer = infer_unary,
          .prepare = prepare};
}

}  // namespace sardonyx
