// ArgMin: the position of the smallest element along an axis.
#include "ops/op.h"
#include "ops/reduce/arg.h"

namespace sardonyx {
namespace {

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return prepare_arg(context, false);
}

#define ARG_SCHEMA "data: T -> reduced: int64 | axis: int = 0, keepdims: int = 1"
constexpr OpVersion kVersions[] = {
    {1, ARG_SCHEMA " | T: @numeric"},
    {11, ARG_SCHEMA " | T: @numeric"},
    {12, ARG_SCHEMA ", select_last_index: int = 0 | T: @numeric"},
    {13, ARG_SCHEMA ", select_last_index: int = 0 | T: @numeric13"},
};
#undef ARG_SCHEMA

}  // namespace

extern const OpDef kArgMin = {
    .domain = "", .name = "ArgMin", .versions = kVersions, .infer = infer_arg, .prepare = prepare};

}  // namespace sardonyx
