// ReduceLogSum: the logarithm of the sum over axes; of an empty set -infinity.
#include "ops/reduce/reduce_kernel.h"

namespace sardonyx {
namespace {

// Integers (before version 28) take the truncated logarithm.
template <typename T>
T from_double(double value) {
  if constexpr (std::is_integral_v<T>) {
    return truncate_saturate<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

struct Fold {
  template <typename T, typename Each>
  static T fold(const Each& each, int64_t /*count*/) {
    double sum = 0;
    each([&](T x) { sum += static_cast<double>(x); });
    return from_double<T>(std::log(sum));
  }
};

constexpr OpVersion kVersions[] = {
    {1, SDX_REDUCE_ATTRIBUTE "@wide @ieee"},
    {11, SDX_REDUCE_ATTRIBUTE "@wide @ieee"},
    {13, SDX_REDUCE_ATTRIBUTE "@wide @ieee bfloat16"},
    {18, SDX_REDUCE_INPUT "@wide @ieee bfloat16"},
    {28, SDX_REDUCE_INPUT "@float"},
};

}  // namespace

extern const OpDef kReduceLogSum = {.domain = "",
                                    .name = "ReduceLogSum",
                                    .versions = kVersions,
                                    .value_inputs = 0b10,
                                    .infer = infer_reduce_op<kernels::ReduceOp::kLogSum>,
                                    .prepare = prepare_reduce<Fold, kernels::ReduceOp::kLogSum>};

}  // namespace sardonyx
