// ReduceL2: the square root of the sum of squares over axes.
#include "ops/reduce/reduce_kernel.h"

namespace sardonyx {
namespace {

struct Fold {
  template <typename T, typename Each>
  static T fold(const Each& each, int64_t /*count*/) {
    double sum = 0;
    each([&](T x) { sum += static_cast<double>(x) * static_cast<double>(x); });
    return static_cast<T>(std::sqrt(sum));
  }
};

constexpr OpVersion kVersions[] = {
    {1, SDX_REDUCE_ATTRIBUTE "@wide @ieee"},
    {11, SDX_REDUCE_ATTRIBUTE "@wide @ieee"},
    {13, SDX_REDUCE_ATTRIBUTE "@wide @ieee bfloat16"},
    {18, SDX_REDUCE_INPUT "@wide @ieee bfloat16"},
};

}  // namespace

extern const OpDef kReduceL2 = {.domain = "",
                                .name = "ReduceL2",
                                .versions = kVersions,
                                .value_inputs = 0b10,
                                .infer = infer_reduce_op<kernels::ReduceOp::kL2>,
                                .prepare = prepare_reduce<Fold, kernels::ReduceOp::kL2>};

}  // namespace sardonyx
