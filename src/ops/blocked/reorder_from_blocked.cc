// ReorderFromBlocked: blocked to plain [N, C, H, W] (or [N, H, W, C] with channels_last).
#include "kernels/reorder/reorder.h"
#include "ops/blocked/blocked.h"
#include "ops/blocked/reorder.h"
#include "ops/op.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "X: float -> Y: float | block: int = 8, channels: int!, channels_last: int = 0"}};

void infer(InferContext& context) {
  const int64_t channels = parse_channels(context.node());
  const bool last = context.node().attributes.get_int("channels_last", 0) != 0;
  check_blocked(context, 0, channels, parse_block(context.node()));
  const SymShape& x = context.input_shape(0);
  if (!x) return context.set_output(0, DataType::kFloat, std::nullopt);
  const Dims& d = *x;
  context.set_output(0, DataType::kFloat,
                     last ? Dims{d[0], d[2], d[3], channels} : Dims{d[0], channels, d[2], d[3]});
}

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  const bool last = context.node.attributes.get_int("channels_last", 0) != 0;
  const kernels::ReorderKernels& rows = kernels::reorder_kernels(context.isa);
  return std::make_unique<ReorderKernel>(last ? rows.blocked_to_nhwc : rows.blocked_to_nchw, false,
                                         last ? 3 : 1, parse_block(context.node));
}

}  // namespace

extern const OpDef kReorderFromBlocked = {.domain = kInternalDomain,
                                          .name = "ReorderFromBlocked",
                                          .versions = kVersions,
                                          .traits = kZeroPreserving,
                                          .infer = infer,
                                          .prepare = prepare};

}  // namespace sardonyx
