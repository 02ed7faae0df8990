// PackConvTransposeWeights: weights [I, O / group, kh, kw] in the phases of BlockedConvTranspose;
// strides, dilations and pads are those of the convolution.
#include "kernels/conv_transpose/conv_transpose.h"
#include "ops/blocked/pack.h"
#include "ops/op.h"

namespace sardonyx {
namespace {

kernels::ConvShape transposed_shape(const PackParams& params, const Shape& iohw) {
  kernels::ConvShape shape;
  shape.groups = params.group;
  shape.in_channels = iohw[0];
  shape.out_channels = iohw[1] * params.group;
  kernels::Window2d& window = shape.window;
  window.kernel_h = iohw[2];
  window.kernel_w = iohw[3];
  window.stride_h = params.window.stride(0);
  window.stride_w = params.window.stride(1);
  window.dilation_h = params.window.dilation(0);
  window.dilation_w = params.window.dilation(1);
  window.pad_top = params.window.pad_begin(0);
  window.pad_left = params.window.pad_begin(1);
  return shape;
}

int64_t size(const PackParams& params, const Shape& plain) {
  return kernels::packed_conv_transpose_weights_size(transposed_shape(params, plain), params.tile);
}

void pack(const PackParams& params, const Shape& plain, const float* in, float* out) {
  kernels::pack_conv_transpose_weights(transposed_shape(params, plain), params.tile, in, out);
}

bool supported(const PackParams& params, const Shape& plain) {
  const auto pair = [](size_t values, size_t expected) {
    return values == 0 || values == expected;
  };
  return plain[0] % params.group == 0 && pair(params.window.strides.size(), 2) &&
         pair(params.window.dilations.size(), 2) && pair(params.window.pads.size(), 4) &&
         kernels::conv_transpose_supported(transposed_shape(params, plain), params.tile);
}

constexpr PackFunctions kFunctions = {size, pack, 4, supported};

void infer(InferContext& context) { infer_pack(context, kFunctions); }

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return prepare_pack(context, kFunctions);
}

constexpr OpVersion kVersions[] = {{1,
                                    "W: float -> packed: float | strides: ints?, dilations: ints?, "
                                    "pads: ints?, " SDX_PACK_ATTRIBUTES}};

}  // namespace

extern const OpDef kPackConvTransposeWeights = {.domain = kInternalDomain,
                                                .name = "PackConvTransposeWeights",
                                                .versions = kVersions,
                                                .infer = infer,
                                                .prepare = prepare};

}  // namespace sardonyx
