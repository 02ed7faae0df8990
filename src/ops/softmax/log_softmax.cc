// LogSoftmax: the logarithm of Softmax, computed without leaving the range of logarithms.
#include "ops/op.h"
#include "ops/softmax/softmax.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "input: T -> output: T | axis: int = 1 | T: @ieee"},
    {11, "input: T -> output: T | axis: int = 1 | T: @ieee"},
    {13, "input: T -> output: T | axis: int = -1 | T: @float"},
};

}  // namespace

extern const OpDef kLogSoftmax = {.domain = "",
                                  .name = "LogSoftmax",
                                  .versions = kVersions,
                                  .in_place = 0b1,
                                  .infer = infer_softmax,
                                  .prepare = prepare_softmax<true>};

}  // namespace sardonyx
