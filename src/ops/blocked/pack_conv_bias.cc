// PackConvBias: a bias of any blocked convolution, padded with zeros to whole blocks.
#include <algorithm>

#include "kernels/blocked/layout.h"
#include "ops/blocked/pack.h"
#include "ops/op.h"

namespace sardonyx {
namespace {

int64_t size(const PackParams& params, const Shape& plain) {
  return kernels::block_count(plain[0], params.tile.block) * params.tile.block;
}

void pack(const PackParams& params, const Shape& plain, const float* in, float* out) {
  std::fill_n(std::copy_n(in, plain[0], out), size(params, plain) - plain[0], 0.0f);
}

bool supported(const PackParams&, const Shape&) { return true; }

constexpr PackFunctions kFunctions = {size, pack, 1, supported};

void infer(InferContext& context) { infer_pack(context, kFunctions); }

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return prepare_pack(context, kFunctions);
}

constexpr OpVersion kVersions[] = {{1, "B: float -> packed: float | " SDX_PACK_ATTRIBUTES}};

}  // namespace

extern const OpDef kPackConvBias = {.domain = kInternalDomain,
                                    .name = "PackConvBias",
                                    .versions = kVersions,
                                    .infer = infer,
                                    .prepare = prepare};

}  // namespace sardonyx
