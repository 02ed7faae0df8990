// ConvInteger: the convolution of bytes less their zero points, in int32 (wrapping). Padding counts
// as the zero point of x.
#include "ops/conv/int8_conv.h"

namespace sardonyx {
namespace {

constexpr Int8Conv kForm = {.x = 0, .x_zero = 2, .w = 1, .w_zero = 3};

void infer(InferContext& context) {
  context.set_output(0, DataType::kInt32, infer_int8_conv(context, kForm));
}

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return int8_conv_kernel(context, kForm);
}

constexpr OpVersion kVersions[] = {
    {10,
     "x: T1, w: T2, x_zero_point: T1?, w_zero_point: T2? -> y: T3 | auto_pad: string = 'NOTSET', "
     "dilations: ints?, group: int = 1, kernel_shape: ints?, pads: ints?, strides: ints? | T1: "
     "int8 uint8, T2: int8 uint8, T3: int32"},
};

}  // namespace

extern const OpDef kConvInteger = {
    .domain = "", .name = "ConvInteger", .versions = kVersions, .infer = infer, .prepare = prepare};

}  // namespace sardonyx
