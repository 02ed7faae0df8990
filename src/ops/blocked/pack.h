// The kernel of the operators that pack the constants of blocked convolutions. They are portable
// code driven by attributes, so that any machine packs for any other; constant folding runs them
// ahead of time.
#pragma once

#include "ops/blocked/conv_params.h"
#include "ops/kernel.h"

namespace sardonyx {

// `size(params, shape of the plain tensor)` gives the floats that `pack(params, shape, in, out)`
// writes.
struct PackFunctions {
  int64_t (*size)(const PackParams& params, const Shape& plain);
  void (*pack)(const PackParams& params, const Shape& plain, const float* in, float* out);
  size_t rank;  // of the plain tensor
  bool (*supported)(const PackParams& params, const Shape& plain);
};

// Output 0: one dimension of packed floats.
void infer_pack(InferContext& context, const PackFunctions& functions);
std::unique_ptr<Kernel> prepare_pack(const PrepareContext& context, const PackFunctions& functions);

#define SDX_PACK_ATTRIBUTES \
  "group: int = 1, block: int = 8, panel_blocks: int = 1, plain_input: int = 0"

}  // namespace sardonyx
