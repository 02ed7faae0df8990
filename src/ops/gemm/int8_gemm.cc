// Int8Gemm (internal): the product of bytes as ops/gemm/int8_matmul.h defines it, what the rewrite
// rules make of quantised float products. y is int32 without scales, float with a_scale or b_scale,
// and bytes with y_zero. bias is float[n] and needs scales. The CPU's lowering packs a constant b.
#include <fmt/format.h>

#include "ops/gemm/int8_matmul.h"

namespace sardonyx {

void infer_int8_gemm(InferContext& context, const Int8Matmul& form) {
  const bool scaled = context.has_input(form.a_scale) || context.has_input(form.b_scale);
  const DataType output = context.has_input(form.y_zero) ? context.input_element(form.y_zero)
                          : scaled                       ? DataType::kFloat
                                                         : DataType::kInt32;
  SymShape y = infer_int8_matmul(context, form);
  if (context.has_input(form.bias)) {
    if (output == DataType::kInt32) context.fail("a bias needs scales");
    const SymShape& bias = context.input_shape(form.bias);
    const SymShape& b = context.input_shape(form.b);
    const Dim n = form.packed           ? Dim(form.packed->n)
                  : b && b->size() >= 2 ? b->back()
                                        : Dim::unknown();
    const bool fits = !bias || (bias->size() == 1 &&
                                (!(*bias)[0].is_known() || !n.is_known() || (*bias)[0] == n));
    if (!fits) context.fail("the bias must have one value for each column");
  }
  context.set_output(0, output, std::move(y));
}

namespace {

void infer(InferContext& context) { infer_int8_gemm(context, kInt8GemmInputs); }

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return int8_matmul_kernel(context, kInt8GemmInputs);
}

constexpr OpVersion kVersions[] = {
    {1,
     "A: T1, B: T2, a_zero: T1?, b_zero: T2?, a_scale: TS?, b_scale: TS?, y_scale: TS?, y_zero: "
     "T3?, bias: float? -> Y: TY | | T1: int8 uint8, T2: int8 uint8, T3: int8 uint8, TS: float16 "
     "float bfloat16, TY: int8 uint8 int32 float"},
};

}  // namespace

extern const OpDef kInt8Gemm = {.domain = kInternalDomain,
                                .name = "Int8Gemm",
                                .versions = kVersions,
                                .infer = infer,
                                .prepare = prepare};

}  // namespace sardonyx
