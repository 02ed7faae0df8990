// QLinearConv: the convolution of quantised tensors, quantised. Scale and zero point of w may be
// one for each filter; padding counts as the zero point of x.
#include "ops/conv/int8_conv.h"

namespace sardonyx {
namespace {

constexpr Int8Conv kForm = {.x = 0,
                            .x_scale = 1,
                            .x_zero = 2,
                            .w = 3,
                            .w_scale = 4,
                            .w_zero = 5,
                            .y_scale = 6,
                            .y_zero = 7,
                            .bias = 8};

void infer(InferContext& context) {
  context.set_output(0, context.input_element(kForm.y_zero), infer_int8_conv(context, kForm));
}

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return int8_conv_kernel(context, kForm);
}

constexpr OpVersion kVersions[] = {
    {10,
     "x: T1, x_scale: float, x_zero_point: T1, w: T2, w_scale: float, w_zero_point: T2, y_scale: "
     "float, y_zero_point: T3, B: T4? -> y: T3 | auto_pad: string = 'NOTSET', dilations: ints?, "
     "group: int = 1, kernel_shape: ints?, pads: ints?, strides: ints? | T1: int8 uint8, T2: int8 "
     "uint8, T3: int8 uint8, T4: int32"},
};

}  // namespace

extern const OpDef kQLinearConv = {
    .domain = "", .name = "QLinearConv", .versions = kVersions, .infer = infer, .prepare = prepare};

}  // namespace sardonyx
