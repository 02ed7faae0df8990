// What Softmax, LogSoftmax and Hardmax share: the axis by version, and the view of the input as
// [outer, length, inner] around it.
#pragma once

#include <cstdint>

#include "ops/infer.h"
#include "ops/kernel.h"

namespace sardonyx {

struct SoftmaxParams {
  int64_t axis = -1;
  bool flatten = false;  // before version 13: all dimensions from `axis` on are one
};

SoftmaxParams parse_softmax(const Node& node);

void infer_softmax(InferContext& context);

struct SoftmaxView {
  int64_t outer = 1, length = 1, inner = 1;
};
SoftmaxView softmax_view(const SoftmaxParams& params, const Shape& shape);

// kLog: the logarithm of the result. Types: float, double, float16, bfloat16.
template <bool kLog>
std::unique_ptr<Kernel> prepare_softmax(const PrepareContext& context);
extern template std::unique_ptr<Kernel> prepare_softmax<false>(const PrepareContext& context);
extern template std::unique_ptr<Kernel> prepare_softmax<true>(const PrepareContext& context);

}  // namespace sardonyx
