// PackInt8GemmB (internal): the right-hand matrix of a product of bytes in the panel layout of
// PackedInt8Gemm (kernels/int8_gemm/int8_gemm.h). Constant folding runs it ahead of time.
#include <fmt/format.h>

#include "kernels/int8_gemm/int8_gemm.h"
#include "ops/gemm/pack_b.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

PackBParams parse(const Node& node) {
  const int64_t nr = node.attributes.get_int("nr", 0);
  if (nr < 4 || nr > kernels::kMaxInt8PanelWidth || nr % 4 != 0) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: nr is {}; expected a multiple of 4 from 4 to {}", describe(node),
                            nr, kernels::kMaxInt8PanelWidth));
  }
  return {node.attributes.get_int("transpose", 0) != 0, static_cast<int>(nr)};
}

void infer(InferContext& context) {
  infer_packed_b(context, parse(context.node()), DataType::kUint8,
                 [](DimTable& dims, Dim k, int nr) {
                   return dims.mul(dims.add(dims.ceil_div(k, 4), 1), nr * 4);
                 });
}

class PackKernel final : public Kernel {
 public:
  PackKernel(PackBParams params, const kernels::Int8GemmKernels& gemm)
      : params_(params), gemm_(gemm) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    return resolve_pack_b(params_, context, 0.2, plan);
  }

  Status run(const RunContext& context) const override {
    const auto& s = context.state_as<PackBState>();
    const bool is_signed = context.input(0).type == DataType::kInt8;
    const int64_t bytes = kernels::packed_int8_b_bytes(s.k, s.n, params_.nr);
    for_each_panel(context, s, [&](int64_t matrix, int64_t panel) {
      kernels::pack_int8_b(gemm_, context.in<uint8_t>(0) + matrix * s.k * s.n, is_signed,
                           params_.transpose ? 1 : s.n, params_.transpose ? s.k : 1, s.k, s.n,
                           params_.nr, context.out<std::byte>(0) + matrix * bytes, panel,
                           panel + 1);
    });
    return Status::ok();
  }

 private:
  PackBParams params_;
  const kernels::Int8GemmKernels& gemm_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<PackKernel>(parse(context.node), kernels::int8_gemm_kernels(context.isa));
}

constexpr OpVersion kVersions[] = {
    {1, "B: T -> packed: uint8 | nr: int!, transpose: int = 0 | T: int8 uint8"},
};

}  // namespace

extern const OpDef kPackInt8GemmB = {.domain = kInternalDomain,
                                     .name = "PackInt8GemmB",
                                     .versions = kVersions,
                                     .infer = infer,
                                     .prepare = prepare};

}  // namespace sardonyx
