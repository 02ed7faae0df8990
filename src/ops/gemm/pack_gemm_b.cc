// PackGemmB (internal): the right-hand matrix of a product in the panel layout of PackedGemm.
// Portable: the tile width nr is an attribute, so that a weight can be packed on one machine for
// another; constant folding runs it ahead of time. [k, n] packs to one dimension, leading
// dimensions stay.
#include <fmt/format.h>

#include "kernels/gemm/gemm.h"
#include "ops/op.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

struct PackParams {
  bool transpose = false;  // the input is [..., n, k]
  int nr = 0;
};

PackParams parse(const Node& node) {
  const int64_t nr = node.attributes.get_int("nr", 0);
  if (nr < 1 || nr > 1024) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: nr is {}; expected 1 to 1024", describe(node), nr));
  }
  return {node.attributes.get_int("transpose", 0) != 0, static_cast<int>(nr)};
}

void infer(InferContext& context) {
  const PackParams params = parse(context.node());
  const SymShape& b = context.input_shape(0);
  if (!b) return context.set_output(0, DataType::kFloat, std::nullopt);
  if (b->size() < 2) context.fail("the matrix needs two dimensions or more");
  DimTable& dims = context.dims();
  const Dim k = (*b)[b->size() - (params.transpose ? 1 : 2)];
  const Dim n = (*b)[b->size() - (params.transpose ? 2 : 1)];
  Dims out(b->begin(), b->end() - 2);
  out.push_back(dims.mul(dims.mul(dims.ceil_div(n, params.nr), params.nr), k));
  context.set_output(0, DataType::kFloat, std::move(out));
}

struct PackState {
  int64_t k = 0, n = 0, panels = 0, matrices = 0;
};

class PackKernel final : public Kernel {
 public:
  explicit PackKernel(PackParams params) : params_(params) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& b = context.input_shape(0);
    auto s = std::make_shared<PackState>();
    s->k = b[b.size() - (params_.transpose ? 1 : 2)];
    s->n = b[b.size() - (params_.transpose ? 2 : 1)];
    s->panels = (s->n + params_.nr - 1) / params_.nr;
    s->matrices = element_count(b, 0, b.size() - 2);
    plan.split(s->matrices * s->panels, 0.4 * static_cast<double>(s->k * params_.nr));
    plan.state = std::move(s);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& s = context.state_as<PackState>();
    const Range part = context.part(s.matrices * s.panels);
    for (int64_t i = part.begin; i < part.end; ++i) {
      const int64_t matrix = i / s.panels, panel = i % s.panels;
      kernels::pack_b(context.in<float>(0) + matrix * s.k * s.n, params_.transpose ? 1 : s.n,
                      params_.transpose ? s.k : 1, s.k, s.n, params_.nr,
                      context.out<float>(0) + matrix * s.panels * s.k * params_.nr, panel,
                      panel + 1);
    }
    return Status::ok();
  }

 private:
  PackParams params_;
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
