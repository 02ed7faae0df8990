// ReduceProd: the product over axes. The product of an empty set is 1.
#include "ops/reduce/reduce_kernel.h"

namespace sardonyx {
namespace {

struct Fold {
  template <typename T, typename Each>
  static T fold(const Each& each, int64_t /*count*/) {
    ReduceWrapType<T> product = 1;
    each([&](T x) { product *= static_cast<ReduceWrapType<T>>(x); });
    return static_cast<T>(product);
  }
};

constexpr OpVersion kVersions[] = {
    {1, SDX_REDUCE_ATTRIBUTE "@wide @ieee"},
    {11, SDX_REDUCE_ATTRIBUTE "@wide @ieee"},
    {13, SDX_REDUCE_ATTRIBUTE "@wide @ieee bfloat16"},
    {18, SDX_REDUCE_INPUT "@wide @ieee bfloat16"},
};

}  // namespace

extern const OpDef kReduceProd = {.domain = "",
                                  .name = "ReduceProd",
                                  .versions = kVersions,
                                  .value_inputs = 0b10,
                                  .infer = infer_reduce_op<kernels::ReduceOp::kProd>,
                                  .prepare = prepare_reduce<Fold, kernels::ReduceOp::kProd>};

}  // namespace sardonyx
