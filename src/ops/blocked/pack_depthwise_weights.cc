// PackDepthwiseWeights: weights [C, 1, kh, kw] of BlockedDepthwiseConv.
#include "kernels/depthwise/depthwise.h"
#include "ops/blocked/pack.h"
#include "ops/op.h"

namespace sardonyx {
namespace {

kernels::DepthwiseShape depthwise(const Shape& plain) {
  kernels::DepthwiseShape shape;
  shape.channels = plain[0];
  shape.window.kernel_h = plain[2];
  shape.window.kernel_w = plain[3];
  return shape;
}

int64_t size(const PackParams& params, const Shape& plain) {
  return kernels::packed_depthwise_weights_size(depthwise(plain), params.tile.block);
}

void pack(const PackParams& params, const Shape& plain, const float* in, float* out) {
  kernels::pack_depthwise_weights(depthwise(plain), params.tile.block, in, out);
}

bool supported(const PackParams&, const Shape& plain) { return plain[1] == 1; }

constexpr PackFunctions kFunctions = {size, pack, 4, supported};

void infer(InferContext& context) { infer_pack(context, kFunctions); }

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return prepare_pack(context, kFunctions);
}

constexpr OpVersion kVersions[] = {{1, "W: float -> packed: float | " SDX_PACK_ATTRIBUTES}};

}  // namespace

extern const OpDef kPackDepthwiseWeights = {.domain = kInternalDomain,
                                            .name = "PackDepthwiseWeights",
                                            .versions = kVersions,
                                            .infer = infer,
                                            .prepare = prepare};

}  // namespace sardonyx
