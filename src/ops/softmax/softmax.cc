// Softmax: exp(x) / sum of exp(x) along an axis (before version 13: along all axes from it on).
#include "ops/softmax/softmax.h"
#include "ops/op.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "input: T -> output: T | axis: int = 1 | T: @ieee"},
    {11, "input: T -> output: T | axis: int = 1 | T: @ieee"},
    {13, "input: T -> output: T | axis: int = -1 | T: @float"},
};

}  // namespace

extern const OpDef kSoftmax = {.domain = "",
                               .name = "Softmax",
                               .versions = kVersions,
                               .in_place = 0b1,
                               .infer = infer_softmax,
                               .prepare = prepare_softmax<false>};

}  // namespace sardonyx
