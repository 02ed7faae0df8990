// ReduceMax: the largest element over axes. NaN wins; an empty set gives the lowest value.
#include "ops/reduce/reduce_kernel.h"

namespace sardonyx {
namespace {

struct Fold {
  template <typename T, typename Each>
  static T fold(const Each& each, int64_t /*count*/) {
    T best = std::numeric_limits<T>::lowest();
    if constexpr (std::is_floating_point_v<T>) best = -std::numeric_limits<T>::infinity();
    each([&](T x) {
      if (x > best || x != x) best = x;
    });
    return best;
  }
};

constexpr OpVersion kVersions[] = {
    {1, SDX_REDUCE_ATTRIBUTE "@wide @ieee"},
    {11, SDX_REDUCE_ATTRIBUTE "@wide @ieee"},
    {12, SDX_REDUCE_ATTRIBUTE "@wide @ieee int8 uint8"},
    {13, SDX_REDUCE_ATTRIBUTE "@wide @ieee bfloat16 int8 uint8"},
    {18, SDX_REDUCE_INPUT "@wide @ieee bfloat16 int8 uint8"},
    {20, SDX_REDUCE_INPUT "@wide @ieee bfloat16 int8 uint8 bool"},
};

}  // namespace

extern const OpDef kReduceMax = {.domain = "",
                                 .name = "ReduceMax",
                                 .versions = kVersions,
                                 .value_inputs = 0b10,
                                 .infer = infer_reduce_op<kernels::ReduceOp::kMax>,
                                 .prepare = prepare_reduce<Fold, kernels::ReduceOp::kMax, true>};

}  // namespace sardonyx
