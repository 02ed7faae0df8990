// GlobalAveragePool: the mean of each plane.
#include "ops/op.h"
#include "ops/pool/global_pool.h"
#include "ops/widen.h"

namespace sardonyx {
namespace {

struct Fold {
  template <typename T>
  T operator()(const T* cells, int64_t count) const {
    constexpr int kLanes = 8;
    T sums[kLanes] = {};
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane) sums[lane] += cells[i + lane];
    }
    for (; i < count; ++i) sums[0] += cells[i];
    T sum = 0;
    for (T lane : sums) sum += lane;
    return sum / static_cast<T>(count);
  }
};

template <typename T>
using GlobalKernel = GlobalPoolKernel<T, Fold>;

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return floating_kernel<GlobalKernel>(context, Fold{});
}

constexpr OpVersion kVersions[] = {
    {1, "X: T -> Y: T | | T: @ieee"},
    {22, "X: T -> Y: T | | T: @float"},
};

}  // namespace

extern const OpDef kGlobalAveragePool = {.domain = "",
                                         .name = "GlobalAveragePool",
                                         .versions = kVersions,
                                         .infer = infer_global_pool,
                                         .prepare = prepare};

}  // namespace sardonyx
