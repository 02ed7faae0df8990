// PackInt8GemmB (internal): the right-hand matrix of a product of bytes in the panel layout of
// PackedInt8Gemm (kernels/int8_gemm/int8_gemm.h). Portable: the panel width nr is an attribute, so
// that a weight can be packed on one machine for another; constant folding runs it ahead of time.
// [k, n] packs to one dimension, leading dimensions stay.
#include <fmt/format.h>

#include "kernels/int8_gemm/int8_gemm.h"
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
  if (nr < 4 || nr > kernels::kMaxInt8PanelWidth || nr % 4 != 0) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: nr is {}; expected a multiple of 4 from 4 to {}", describe(node),
                            nr, kernels::kMaxInt8PanelWidth));
  }
  return {node.attributes.get_int("transpose", 0) != 0, static_cast<int>(nr)};
}

void infer(InferContext& context) {
  const PackParams params = parse(context.node());
  const SymShape& b = context.input_shape(0);
  if (!b) return context.set_output(0, DataType::kUint8, std::nullopt);
  if (b->size() < 2) context.fail("the matrix needs two dimensions or more");
  DimTable& dims = context.dims();
  const Dim k = (*b)[b->size() - (params.transpose ? 1 : 2)];
  const Dim n = (*b)[b->size() - (params.transpose ? 2 : 1)];
  Dims out(b->begin(), b->end() - 2);
  const Dim panel = dims.mul(dims.add(dims.ceil_div(k, 4), 1), params.nr * 4);
  out.push_back(dims.mul(dims.ceil_div(n, params.nr), panel));
  context.set_output(0, DataType::kUint8, std::move(out));
}

struct PackState {
  int64_t k = 0, n = 0, panels = 0, matrices = 0;
};

class PackKernel final : public Kernel {
 public:
  PackKernel(PackParams params, const kernels::Int8GemmKernels& gemm)
      : params_(params), gemm_(gemm) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& b = context.input_shape(0);
    auto s = std::make_shared<PackState>();
    s->k = b[b.size() - (params_.transpose ? 1 : 2)];
    s->n = b[b.size() - (params_.transpose ? 2 : 1)];
    s->panels = (s->n + params_.nr - 1) / params_.nr;
    s->matrices = element_count(b, 0, b.size() - 2);
    plan.split(s->matrices * s->panels, 0.2 * static_cast<double>(s->k * params_.nr));
    plan.state = std::move(s);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& s = context.state_as<PackState>();
    const bool is_signed = context.input(0).type == DataType::kInt8;
    const int64_t bytes = kernels::packed_int8_b_bytes(s.k, s.n, params_.nr);
    const Range part = context.part(s.matrices * s.panels);
    for (int64_t i = part.begin; i < part.end; ++i) {
      const int64_t matrix = i / s.panels, panel = i % s.panels;
      kernels::pack_int8_b(gemm_, context.in<uint8_t>(0) + matrix * s.k * s.n, is_signed,
                           params_.transpose ? 1 : s.n, params_.transpose ? s.k : 1, s.k, s.n,
                           params_.nr, context.out<std::byte>(0) + matrix * bytes, panel,
                           panel + 1);
    }
    return Status::ok();
  }

 private:
  PackParams params_;
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
