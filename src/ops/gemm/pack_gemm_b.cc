// PackGemmB (internal): the right-hand matrix of a product in the panel layout of PackedGemm.
// Constant folding runs it ahead of time.
#include <fmt/format.h>

#include "kernels/gemm/gemm.h"
#include "ops/gemm/pack_b.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

PackBParams parse(const Node& node) {
  const int64_t nr = node.attributes.get_int("nr", 0);
  if (nr < 1 || nr > 1024) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: nr is {}; expected 1 to 1024", describe(node), nr));
  }
  return {node.attributes.get_int("transpose", 0) != 0, static_cast<int>(nr)};
}

void infer(InferContext& context) {
  infer_packed_b(context, parse(context.node()), DataType::kFloat,
                 [](DimTable& dims, Dim k, int nr) { return dims.mul(k, nr); });
}

class PackKernel final : public Kernel {
 public:
  explicit PackKernel(PackBParams params) : params_(params) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    return resolve_pack_b(params_, context, 0.4, plan);
  }

  Status run(const RunContext& context) const override {
    const auto& s = context.state_as<PackBState>();
    for_each_panel(context, s, [&](int64_t matrix, int64_t panel) {
      kernels::pack_b(context.in<float>(0) + matrix * s.k * s.n, params_.transpose ? 1 : s.n,
                      params_.transpose ? s.k : 1, s.k, s.n, params_.nr,
                      context.out<float>(0) + matrix * s.panels * s.k * params_.nr, panel,
                      panel + 1);
    });
    return Status::ok();
  }

 private:
  PackBParams params_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<PackKernel>(parse(context.node));
}

constexpr OpVersion kVersions[] = {
    {1, "B: T -> packed: T | nr: int!, transpose: int = 0 | T: float"},
};

}  // namespace

extern const OpDef kPackGemmB = {.domain = kInternalDomain,
                                 .name = "PackGemmB",
                                 .versions = kVersions,
                                 .infer = infer,
                                 .prepare = prepare};

}  // namespace sardonyx
