// Float element-wise kernels over contiguous rows: one operand (activations and elementary
// functions) and two operands, either of which may be a single value. Output may be an input (same
// pointer); other overlap is not allowed. NaN passes through every function; Min and Max are NaN
// when either operand is. Bounds of error are in ULP against the exact value. Called by the
// element-wise operators and by fused chains.
#pragma once

#include <cstdint>

#include "base/cpu.h"
#include "kernels/epilogue.h"

namespace sardonyx::kernels {

enum class UnaryOp : uint8_t {
  kCopy,
  kRelu,
  kLeakyRelu,    // alpha
  kClip,         // alpha = low, beta = high
  kHardSigmoid,  // alpha, beta
  kHardSwish,    // alpha, beta
  kSigmoid,      // 4 ULP; 0 where subnormal
  kSilu,         // 5 ULP
  kTanh,         // 6 ULP
  kGelu,         // absolute 4e-7 max(1, |x|)
  kGeluTanh,     // absolute 4e-7 max(1, |x|)
  kAbs,
  kNeg,
  kSign,
  kFloor,
  kCeil,
  kRound,  // halves to even
  kReciprocal,
  kSqrt,
  kSquare,
  kExp,  // 2 ULP, subnormal results included
  kLog,  // 2 ULP; log(0) = -inf, log(x < 0) = NaN
  kErf,  // absolute 4e-7
  kSin,  // absolute 2e-7 and, for |x| <= 8192, 3 ULP away from zeros; larger |x| go through libm
  kCos,  // as kSin
  kSoftplus,         // 4 ULP
  kSoftsign,         // x / (1 + |x|), 2 ULP
  kElu,              // x < 0 ? alpha (e^x - 1) : x; 4 ULP
  kSelu,             // beta (x < 0 ? alpha (e^x - 1) : x); beta is gamma; 5 ULP
  kCelu,             // max(0, x) + min(0, alpha (e^(x / alpha) - 1)); 5 ULP
  kThresholdedRelu,  // x > alpha ? x : 0
  kMish,             // x tanh(softplus(x)); absolute 1e-6 max(1, |x|)
  kCount
};

enum class BinaryOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMin,
  kMax,
  kPow,    // 1 ULP (libm), multiplications and roots for the usual constant exponents
  kPrelu,  // a < 0 ? a * b : a
  kCount
};

// n elements at in and out.
using UnaryFunction = void (*)(const float* in, float* out, int64_t n, float alpha, float beta);
// a_step and b_step are 1, or 0 for an operand that is one value.
using BinaryFunction = void (*)(const float* a, int a_step, const float* b, int b_step, float* out,
                                int64_t n);

struct UnaryKernels {
  UnaryFunction functions[static_cast<int>(UnaryOp::kCount)];
  UnaryFunction operator[](UnaryOp op) const { return functions[static_cast<int>(op)]; }
};
struct BinaryKernels {
  BinaryFunction functions[static_cast<int>(BinaryOp::kCount)];
  BinaryFunction operator[](BinaryOp op) const { return functions[static_cast<int>(op)]; }
};

const UnaryKernels& unary_kernels(Isa isa = best_isa());
const BinaryKernels& binary_kernels(Isa isa = best_isa());

// The row of an epilogue's activation, to be called with its alpha and beta.
constexpr UnaryOp unary_op(Activation activation) { return static_cast<UnaryOp>(activation); }
static_assert(unary_op(Activation::kNone) == UnaryOp::kCopy);
static_assert(unary_op(Activation::kHardSwish) == UnaryOp::kHardSwish);
static_assert(unary_op(Activation::kGeluTanh) == UnaryOp::kGeluTanh);

}  // namespace sardonyx::kernels
