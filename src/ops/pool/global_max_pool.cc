// GlobalMaxPool: the largest cell of each plane. NaN wins; an empty plane gives -infinity.
#include <cmath>
#include <limits>

#include "ops/op.h"
#include "ops/pool/global_pool.h"
#include "ops/widen.h"

namespace sardonyx {
namespace {

struct Fold {
  template <typename T>
  T operator()(const T* cells, int64_t count) const {
    T best = -std::numeric_limits<T>::infinity();
    for (int64_t i = 0; i < count; ++i) {
      if (cells[i] > best || std::isnan(cells[i])) best = cells[i];
      if (std::isnan(best)) return best;
    }
    return best;
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

extern const OpDef kGlobalMaxPool = {.domain = "",
                                     .name = "GlobalMaxPool",
                                     .versions = kVersions,
                                     .infer = infer_global_pool,
                                     .prepare = prepare};

}  // namespace sardonyx
