// MatMulInteger: numpy's matmul of bytes less their zero points, in int32 (wrapping). A constant B
// is packed ahead of time by the CPU provider's lowering.
#include "ops/gemm/int8_matmul.h"

namespace sardonyx {
namespace {

constexpr Int8Matmul kForm = {.a = 0, .a_zero = 2, .b = 1, .b_zero = 3};

void infer(InferContext& context) {
  context.set_output(0, DataType::kInt32, infer_int8_matmul(context, kForm));
}

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return int8_matmul_kernel(context, kForm);
}

constexpr OpVersion kVersions[] = {
    {10,
     "A: T1, B: T2, a_zero_point: T1?, b_zero_point: T2? -> Y: T3 | | T1: int8 uint8, T2: int8 "
     "uint8, T3: int32"},
};

}  // namespace

extern const OpDef kMatMulInteger = {.domain = "",
                                     .name = "MatMulInteger",
                                     .versions = kVersions,
                                     .infer = infer,
                                     .prepare = prepare};

}  // namespace sardonyx
