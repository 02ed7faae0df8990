// ReduceLogSumExp: log(sum of exp(x)) over axes, the maximum subtracted; of an empty set -infinity.
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
    double most = -std::numeric_limits<double>::infinity();
    each([&](T x) {
      const auto wide = static_cast<double>(x);
      if (!(wide <= most)) most = wide;
    });
    if (std::isinf(most)) return from_double<T>(most);
    double sum = 0;
    each([&](T x) { sum += std::exp(static_cast<double>(x) - most); });
    return from_double<T>(most + std::log(sum));
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

extern const OpDef kReduceLogSumExp = {
    .domain = "",
    .name = "ReduceLogSumExp",
    .versions = kVersions,
    .value_inputs = 0b10,
    .infer = infer_reduce_op<kernels::ReduceOp::kLogSumExp>,
    .prepare = prepare_reduce<Fold, kernels::ReduceOp::kLogSumExp>};

}  // namespace sardonyx
