// GroupNormalization: groups of channels of each sample brought to mean 0 and variance 1, then
// scaled and shifted by group (version 18, deprecated) or by channel (21).
#include <fmt/format.h>

#include "ops/norm/group_rows.h"
#include "ops/op.h"
#include "ops/widen.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

GroupRowsParams parse(const Node& node) {
  GroupRowsParams params{node.attributes.get_int("num_groups", 0),
                         node.attributes.get_float("epsilon", 1e-5f)};
  if (params.groups < 1) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: num_groups is {}", describe(node), params.groups));
  }
  return params;
}

void infer(InferContext& context) {
  const GroupRowsParams params = parse(context.node());
  const SymShape& x = context.input_shape(0);
  if (x && x->size() < 2) {
    context.fail(fmt::format("input of rank {}; expected 2 or more", x->size()));
  }
  if (x && (*x)[1].is_known()) {
    const int64_t channels = (*x)[1].value;
    if (channels % params.groups != 0) {
      context.fail(
          fmt::format("{} channels cannot be split into {} groups", channels, params.groups));
    }
    for (size_t i = 1; i <= 2; ++i) {
      const SymShape& given = context.input_shape(i);
      // Files of either version exist with either shape.
      if (given && (given->size() != 1 || ((*given)[0].is_known() && !(*given)[0].is(channels) &&
                                           !(*given)[0].is(params.groups)))) {
        context.fail(fmt::format("input {} must have {} or {} values", i, channels, params.groups));
      }
    }
  }
  context.same_as_input();
}

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return floating_kernel<GroupRowsKernel>(context, parse(context.node), context.isa);
}

constexpr OpVersion kVersions[] = {
    {18, "X: T, scale: T, bias: T -> Y: T | epsilon: float = 1e-05, num_groups: int! | T: @float"},
    {21,
     "X: T, scale: T, bias: T -> Y: T | epsilon: float = 1e-05, num_groups: int!, "
     "stash_type: int = 1 | T: @float"},
};

}  // namespace

extern const OpDef kGroupNormalization = {.domain = "",
                                          .name = "GroupNormalization",
                                          .versions = kVersions,
                                          .in_place = 0b1,
                                          .infer = infer,
                                          .prepare = prepare};

}  // namespace sardonyx
