// ReduceL1: the sum of magnitudes over axes.
#include "ops/reduce/reduce_kernel.h"

namespace sardonyx {
namespace {

struct Fold {
  template <typename T, typename Each>
  static T fold(const Each& each, int64_t /*count*/) {
    ReduceWrapType<T> sum = 0;
    each([&](T x) {
      const auto wide = static_cast<ReduceWrapType<T>>(x);
      sum += x < T(0) ? -wide : wide;
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

extern const OpDef kReduceL1 = {.domain = "",
                                .name = "ReduceL1",
                                .versions = kVersions,
                                .value_inputs = 0b10,
                                .infer = infer_reduce_op<kernels::ReduceOp::kL1>,
                                .prepare = prepare_reduce<Fold, kernels::ReduceOp::kL1>};

}  // namespace sardonyx
