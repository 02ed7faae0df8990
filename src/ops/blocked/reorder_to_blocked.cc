// ReorderToBlocked: plain [N, C, H, W] (or [N, H, W, C] with channels_last) to blocked.
#include "kernels/reorder/reorder.h"
#include "ops/blocked/blocked.h"
#include "ops/blocked/reorder.h"
#include "ops/op.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "X: float -> Y: float | block: int = 8, channels_last: int = 0"}};

void infer(InferContext& context) {
  const int block = parse_block(context.node());
  const bool last = context.node().attributes.get_int("channels_last", 0) != 0;
  const SymShape& x = context.input_shape(0);
  if (!x) return context.set_output(0, DataType::kFloat, std::nullopt);
  if (x->size() != 4) context.fail("expected an input of rank 4");
  const Dims& d = *x;
  context.set_output(0, DataType::kFloat,
                     blocked_shape(context.dims(), d[0], d[last ? 3 : 1], d[last ? 1 : 2],
                                   d[last ? 2 : 3], block));
}

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  const bool last = context.node.attributes.get_int("channels_last", 0) != 0;
  const kernels::ReorderKernels& rows = kernels::reorder_kernels(context.isa);
  return std::make_unique<ReorderKernel>(last ? rows.nhwc_to_blocked : rows.nchw_to_blocked, true,
                                         last ? 3 : 1, parse_block(context.node));
}

}  // namespace

extern const OpDef kReorderToBlocked = {.domain = kInternalDomain,
                                        .name = "ReorderToBlocked",
                                        .versions = kVersions,
                                        .traits = kZeroPreserving,
                                        .infer = infer,
                                        .prepare = prepare};

}  // namespace sardonyx
