// What operators of two broadcast operands share: inference (numpy rules, and `broadcast` with
// `axis` before opset 7), the kernel, and the choice of its loop by element type. float runs the
// kernel library's row, float16 and bfloat16 the same row by way of float.
#pragma once

#include <memory>

#include "kernels/elementwise/elementwise.h"
#include "ops/op.h"
#include "ops/typed.h"

namespace sardonyx {

// n results; a step is 1, or 0 for an operand that is one value. `out` may be `a` or `b`.
using BinaryLoop = void (*)(const void* a, int a_step, const void* b, int b_step, void* out,
                            int64_t n);

// How to compute with one pair of types. One of the loops is set.
struct BinaryCode {
  DataType a_type = DataType::kUndefined;
  DataType b_type = DataType::kUndefined;
  DataType out_type = DataType::kUndefined;
  BinaryLoop loop = nullptr;
  kernels::BinaryFunction float_loop = nullptr;  // float, or float16 and bfloat16 (a = b = out)
  BinaryLoop widened_loop = nullptr;             // float16 and bfloat16 (a = b) as float -> bool
  double nanoseconds = 0.5;                      // per element

  void apply(const void* a, int a_step, const void* b, int b_step, void* out, int64_t n) const;
};

std::unique_ptr<Kernel> make_binary_kernel(const Node& node, const BinaryCode& code);
// The axes of B lie from `axis` of A on.
std::unique_ptr<Kernel> make_aligned_kernel(const BinaryCode& code, int64_t axis);
// The operands are folded from the left: ((x0 op x1) op x2) ...
std::unique_ptr<Kernel> make_fold_kernel(const BinaryCode& code);
// The fold, and then `divide` by the number of operands. Floating types only.
std::unique_ptr<Kernel> make_mean_kernel(const BinaryCode& code, const BinaryCode& divide);

// Element arithmetic on tracked integers; null: not tracked.
using DimRule = Dim (*)(DimTable& dims, Dim a, Dim b);
// Output 0: the broadcast shape and `element` (kUndefined: that of input 0).
void infer_binary(InferContext& context, DataType element, DimRule rule);
void infer_fold(InferContext& context, DimRule rule);

template <typename Op, typename T, typename Result>
void binary_loop(const void* a, int a_step, const void* b, int b_step, void* out, int64_t n) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  Result* z = static_cast<Result*>(out);
  if (a_step == 1 && b_step == 1) {
    for (int64_t i = 0; i < n; ++i) z[i] = Op::apply(x[i], y[i]);
  } else if (a_step == 1) {
    const T y0 = *y;
    for (int64_t i = 0; i < n; ++i) z[i] = Op::apply(x[i], y0);
  } else if (b_step == 1) {
    const T x0 = *x;
    for (int64_t i = 0; i < n; ++i) z[i] = Op::apply(x0, y[i]);
  } else {
    const Result z0 = Op::apply(*x, *y);
    for (int64_t i = 0; i < n; ++i) z[i] = z0;
  }
}

// Arithmetic: numbers of one type. Op has kKernel and apply(T, T) for double and the integers.
template <typename Op>
BinaryCode arithmetic_code(const PrepareContext& context) {
  const DataType type = context.input_element(0);
  BinaryCode code{type, type, type};
  code.nanoseconds = Op::kNanoseconds;
  if (type == DataType::kFloat || type == DataType::kFloat16 || type == DataType::kBfloat16) {
    code.float_loop = kernels::binary_kernels(context.isa)[Op::kKernel];
    return code;
  }
  if (type == DataType::kDouble) {
    code.loop = binary_loop<Op, double, double>;
    return code;
  }
  const bool known =
      visit_integers(type, [&]<typename T>(TypeTag<T>) { code.loop = binary_loop<Op, T, T>; });
  if (!known) context.unsupported("float, double, float16, bfloat16, integers of 8 to 64 bits");
  return code;
}

// Comparison: numbers of one type -> bool. Op has apply(T, T) for every C++ arithmetic type.
template <typename Op>
BinaryCode comparison_code(const PrepareContext& context) {
  const DataType type = context.input_element(0);
  BinaryCode code{type, type, DataType::kBool};
  if (type == DataType::kFloat16 || type == DataType::kBfloat16) {
    code.widened_loop = binary_loop<Op, float, bool>;
    return code;
  }
  const bool known = visit_numbers(type, [&]<typename T>(TypeTag<T>) {
    if constexpr (!kIsNarrow<T>) code.loop = binary_loop<Op, T, bool>;
  });
  if (!known) context.unsupported("numbers");
  return code;
}

// Integers wrap around; narrower types than int are computed in uint32_t.
template <typename T>
using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

}  // namespace sardonyx
