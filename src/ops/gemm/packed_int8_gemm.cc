// PackedInt8Gemm (internal): Int8Gemm with b packed ahead of time by PackInt8GemmB. The attribute
// b_signed says what b was before it was packed.
#include <fmt/format.h>

#include "kernels/int8_gemm/int8_gemm.h"
#include "ops/gemm/int8_matmul.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

Int8Matmul parse(const Node& node) {
  Int8Matmul form = kInt8GemmInputs;
  form.packed =
      Int8Matmul::Packed{node.attributes.get_int("k", -1), node.attributes.get_int("n", -1),
                         static_cast<int>(node.attributes.get_int("nr", 0)),
                         node.attributes.get_int("b_signed", 1) != 0};
  const Int8Matmul::Packed& packed = *form.packed;
  // Below 2^31 the size of the packed matrix fits 63 bits.
  const bool fits = packed.k >= 0 && packed.k <= INT32_MAX && packed.n >= 0 &&
                    packed.n <= INT32_MAX && packed.nr >= 4 &&
                    packed.nr <= kernels::kMaxInt8PanelWidth;
  if (!fits) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: k {}, n {}, nr {} describe no packed matrix", describe(node),
                            packed.k, packed.n, packed.nr));
  }
  return form;
}

void infer(InferContext& context) {
  const Int8Matmul form = parse(context.node());
  const SymShape& packed = context.input_shape(form.b);
  if (packed && !packed->empty()) {
    const int64_t bytes =
        kernels::packed_int8_b_bytes(form.packed->k, form.packed->n, form.packed->nr);
    if (packed->back().is_known() && !packed->back().is(bytes)) {
      context.fail(fmt::format("a packed matrix of {} bytes; k, n and nr need {}",
                               packed->back().value, bytes));
    }
  }
  infer_int8_gemm(context, form);
}

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  const Int8Matmul form = parse(context.node);
  const int nr = kernels::int8_gemm_kernels(context.isa).nr;
  if (nr != form.packed->nr) {
    throw Error(ErrorCode::kNotImplemented,
                fmt::format("{}: the weight is packed for tiles of {} columns; the {} row has {}",
                            describe(context.node), form.packed->nr, to_string(context.isa), nr));
  }
  return int8_matmul_kernel(context, form);
}

constexpr OpVersion kVersions[] = {
    {1,
     "A: T1, B: uint8, a_zero: T1?, b_zero: T2?, a_scale: TS?, b_scale: TS?, y_scale: TS?, "
     "y_zero: T3?, bias: float? -> Y: TY | k: int!, n: int!, nr: int!, b_signed: int = 1 | T1: "
     "int8 uint8, T2: int8 uint8, T3: int8 uint8, TS: float16 float bfloat16, TY: int8 uint8 "
     "int32 float"},
};

}  // namespace

extern const OpDef kPackedInt8Gemm = {.domain = kInternalDomain,
                                      .name = "PackedInt8Gemm",
                                      .versions = kVersions,
                                      .infer = infer,
                                      .prepare = prepare};

}  // namespace sardonyx
