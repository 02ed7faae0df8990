// ReduceSumSquare: the sum of squares over axes.
#include "ops/reduce/reduce_kernel.h"

namespace sardonyx {
namespace {

struct Fold {
  template <typename T, typename Each>
  static T fold(const Each& each, int64_t /*count*/) {
    ReduceWrapType<T> sum = 0;
    each([&](T x) {
      const auto wide = static_cast<ReduceWrapType<T>>(x);
      sum += wide * wide;
    });
    return static_cast<T>(sum);
  }
};

constexpr OpVersion kVersions[] = {
    {1, SDX_REDUCE_ATTRIBUTE "@wide @ieee"},
    {11, SDX_REDUCE_ATTRIBUTE "@wide @ieee"},
    {13, SDX_REDUCE_ATTRIBUTE "@wide @ieee bfloat16"},
    {18, SDX_REDUCE_INPUT "@wide @ieee bfloat16"},
};

}  // namespace

extern const OpDef kReduceSumSquare = {
    .domain = "",
    .name = "ReduceSumSquare",
    .versions = kVersions,
    .value_inputs = 0b10,
    .infer = infer_reduce_op<kernels::ReduceOp::kSumSquare>,
    .prepare = prepare_reduce<Fold, kernels::ReduceOp::kSumSquare>};

}  // namespace sardonyx
