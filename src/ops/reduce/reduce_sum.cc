// ReduceSum: the sum over axes. An empty set sums to 0.
#include "ops/reduce/reduce_kernel.h"

namespace sardonyx {
namespace {

struct Fold {
  template <typename T, typename Each>
  static T fold(const Each& each, int64_t /*count*/) {
    ReduceWrapType<T> sum = 0;
    each([&](T x) { sum += static_cast<ReduceWrapType<T>>(x); });
    return static_cast<T>(sum);
  }
};

constexpr OpVersion kVersions[] = {
    {1, SDX_REDUCE_ATTRIBUTE "@wide @ieee"},
    {11, SDX_REDUCE_ATTRIBUTE "@wide @ieee"},
    {13, SDX_REDUCE_INPUT "@wide @ieee bfloat16"},
};

}  // namespace

extern const OpDef kReduceSum = {.domain = "",
                                 .name = "ReduceSum",
                                 .versions = kVersions,
                                 .value_inputs = 0b10,
                                 .infer = infer_reduce_op<kernels::ReduceOp::kSum>,
                                 .prepare = prepare_reduce<Fold, kernels::ReduceOp::kSum>};

}  // namespace sardonyx
