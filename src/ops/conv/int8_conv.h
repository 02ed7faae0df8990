// The convolution of bytes, (x - x_zero) * (w - w_zero) + bias, exact in 32 bits modulo 2^32: left
// as int32 or quantised to bytes again. What ConvInteger and QLinearConv share.
//   bytes  round(sum * (x_scale * w_scale / y_scale)) + y_zero, halves to even, saturated
#pragma once

#include <memory>

#include "ops/op.h"
#include "ops/quantize/parameters.h"

namespace sardonyx {

// Which input is what; kNoInput where the operator has none. Scale and zero point of w are one
// value or one for each filter, those of x and y one value; bias is int32, one for each filter.
struct Int8Conv {
  size_t x = 0, x_scale = kNoInput, x_zero = kNoInput;
  size_t w = 1, w_scale = kNoInput, w_zero = kNoInput;
  size_t y_scale = kNoInput, y_zero = kNoInput;
  size_t bias = kNoInput;
};

// Checks all inputs; returns the shape of y.
SymShape infer_int8_conv(InferContext& context, const Int8Conv& form);

std::unique_ptr<Kernel> int8_conv_kernel(const PrepareContext& context, const Int8Conv& form);

}  // namespace sardonyx
