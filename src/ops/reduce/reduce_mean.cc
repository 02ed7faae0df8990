// ReduceMean: the mean over axes; of integers truncated. The mean of an empty set is NaN, of
// integers 0.
#include "ops/reduce/reduce_kernel.h"

namespace sardonyx {
namespace {

struct Fold {
  template <typename T, typename Each>
  static T fold(const Each& each, int64_t count) {
    ReduceSumType<T> sum = 0;
    each([&](T x) { sum += static_cast<ReduceSumType<T>>(x); });
    if constexpr (std::is_integral_v<T>) {
      return count == 0 ? T(0) : static_cast<T>(sum / static_cast<ReduceSumType<T>>(count));
    } else {
      return static_cast<T>(sum / static_cast<double>(count));
    }
  }
};

constexpr OpVersion kVersions[] = {
    {1, SDX_REDUCE_ATTRIBUTE "@wide @ieee"},
    {11, SDX_REDUCE_ATTRIBUTE "@wide @ieee"},
    {13, SDX_REDUCE_ATTRIBUTE "@wide @ieee bfloat16"},
    {18, SDX_REDUCE_INPUT "@wide @ieee bfloat16"},
};

}  // namespace

extern const OpDef kReduceMean = {.domain = "",
                                  .name = "ReduceMean",
                                  .versions = kVersions,
                                  .value_inputs = 0b10,
                                  .infer = infer_reduce_op<kernels::ReduceOp::kMean>,
                                  .prepare = prepare_reduce<Fold, kernels::ReduceOp::kMean>};

}  // namespace sardonyx
