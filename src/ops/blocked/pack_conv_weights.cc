// PackConvWeights: weights [O, I / group, kh, kw] in the panels of BlockedConv.
#include "kernels/conv/conv.h"
#include "ops/blocked/pack.h"
#include "ops/op.h"

namespace sardonyx {
namespace {

int64_t size(const PackParams& params, const Shape& plain) {
  return kernels::packed_conv_weights_size(pack_shape(params, plain), params.tile);
}

void pack(const PackParams& params, const Shape& plain, const float* in, float* out) {
  kernels::pack_conv_weights(pack_shape(params, plain), params.tile, in, out);
}

bool supported(const PackParams& params, const Shape& plain) {
  return plain[0] % params.group == 0 &&
         kernels::conv_supported(pack_shape(params, plain), params.tile);
}

constexpr PackFunctions kFunctions = {size, pack, 4, supported};

void infer(InferContext& context) { infer_pack(context, kFunctions); }

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return prepare_pack(context, kFunctions);
}

constexpr OpVersion kVersions[] = {{1, "W: float -> packed: float | " SDX_PACK_ATTRIBUTES}};

}  // namespace

extern const OpDef kPackConvWeights = {.domain = kInternalDomain,
                                       .name = "PackConvWeights",
                                       .versions = kVersions,
                                       .infer = infer,
                                       .prepare = prepare};

}  // namespace sardonyx
