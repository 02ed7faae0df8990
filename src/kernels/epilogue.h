// What a matrix or convolution kernel does with a finished accumulator before it stores it:
//   out = activation(acc + bias + residual).
// Shared by gemm and conv; also the parameter block of the element-wise activation kernels.
#pragma once

#include <cstdint>

namespace sardonyx::kernels {

enum class Activation : uint8_t {
  kNone,
  kRelu,
  kLeakyRelu,    // x < 0 ? alpha * x : x
  kClip,         // min(beta, max(x, alpha)); NaN passes through
  kHardSigmoid,  // max(0, min(1, alpha * x + beta))
  kHardSwish,    // x * max(0, min(1, alpha * x + beta))
  kSigmoid,
  kSilu,  // x * sigmoid(x)
  kTanh,
  kGelu,      // 0.5 x (1 + erf(x / sqrt 2))
  kGeluTanh,  // 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
};

struct Epilogue {
  Activation activation = Activation::kNone;
  float alpha = 0.0f;
  float beta = 0.0f;
};

}  // namespace sardonyx::kernels
