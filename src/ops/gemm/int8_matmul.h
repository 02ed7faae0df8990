// The product of two matrices of bytes, with numpy's batch dimensions:
//   y = (a - a_zero) * (b - b_zero), exact in 32 bits modulo 2^32,
// left as int32, scaled to float, or quantised to bytes again. What MatMulInteger, QLinearMatMul
// and their packed form share.
//   float  sum * (a_scale * b_scale) + bias
//   bytes  round(sum * (a_scale * b_scale / y_scale) + bias) + y_zero, halves to even, saturated;
//          NaN counts as 0
#pragma once

#include <memory>
#include <optional>

#include "ops/op.h"
#include "ops/quantize/parameters.h"

namespace sardonyx {

struct Int8Matmul {
  // Which input is what; kNoInput where the operator has none. Scales and zero points of a and y
  // are one value or belong to rows, those of b to columns; bias is float[n].
  size_t a = 0, a_scale = kNoInput, a_zero = kNoInput;
  size_t b = 1, b_scale = kNoInput, b_zero = kNoInput;
  size_t y_scale = kNoInput, y_zero = kNoInput;
  size_t bias = kNoInput;

  // b packed ahead by PackInt8GemmB.
  struct Packed {
    int64_t k = 0, n = 0;
    int nr = 0;
    bool is_signed = true;
  };
  std::optional<Packed> packed = {};
};

// The inputs of the internal operators Int8Gemm and PackedInt8Gemm.
inline constexpr Int8Matmul kInt8GemmInputs = {.a = 0,
                                               .a_scale = 4,
                                               .a_zero = 2,
                                               .b = 1,
                                               .b_scale = 5,
                                               .b_zero = 3,
                                               .y_scale = 6,
                                               .y_zero = 7,
                                               .bias = 8};

// The shape of b as a matrix, from the packed one.
template <typename Dimensions>
Dimensions unpacked_int8_b(const Dimensions& packed, const Int8Matmul::Packed& form) {
  Dimensions b(packed.begin(), packed.end() - 1);
  b.push_back(form.k);
  b.push_back(form.n);
  return b;
}

// Checks all inputs; returns the shape of y.
SymShape infer_int8_matmul(InferContext& context, const Int8Matmul& form);

// The inference of those two.
void infer_int8_gemm(InferContext& context, const Int8Matmul& form);

std::unique_ptr<Kernel> int8_matmul_kernel(const PrepareContext& context, const Int8Matmul& form);

}  // namespace sardonyx
