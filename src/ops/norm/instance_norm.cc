// InstanceNormalization: each plane of each sample brought to mean 0 and variance 1, then scaled
// and shifted by channel.
#include <fmt/format.h>

#include "ops/norm/group_rows.h"
#include "ops/op.h"
#include "ops/widen.h"

namespace sardonyx {
namespace {

GroupRowsParams parse(const Node& node) { return {0, node.attributes.get_float("epsilon", 1e-5f)}; }

void infer(InferContext& context) {
  const SymShape& x = context.input_shape(0);
  if (x && x->size() < 2) {
    context.fail(fmt::format("input of rank {}; expected 2 or more", x->size()));
  }
  for (size_t i = 1; x && i <= 2; ++i) {
    const SymShape& given = context.input_shape(i);
    if (given && (given->size() != 1 ||
                  ((*given)[0].is_known() && (*x)[1].is_known() && (*given)[0] != (*x)[1]))) {
      context.fail(fmt::format("input {} must have one value for each channel", i));
    }
  }
  context.same_as_input();
}

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return floating_kernel<GroupRowsKernel>(context, parse(context.node), context.isa);
}

constexpr OpVersion kVersions[] = {
    {1,
     "input: T, scale: T, B: T -> output: T | consumed_inputs: ints?, epsilon: float = 1e-05 | "
     "T: @ieee"},
    {6, "input: T, scale: T, B: T -> output: T | epsilon: float = 1e-05 | T: @ieee"},
    {22, "input: T, scale: T, B: T -> output: T | epsilon: float = 1e-05 | T: @float"},
};

}  // namespace

extern const OpDef kInstanceNormalization = {.domain = "",
                                             .name = "InstanceNormalization",
                                             .versions = kVersions,
                                             .in_place = 0b1,
                                             .infer = infer,
                                             .prepare = prepare};

}  // namespace sardonyx
