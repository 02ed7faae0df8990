// PackedGemm (internal): y = act(a x b + bias + residual), b packed ahead of time by PackGemmB.
// a is [..., k]; a one-dimensional b multiplies all rows of a, a b with leading dimensions
// multiplies as matmul does. bias is [n], residual has the shape of y. Results do not depend on how
// the work is split.
#include <fmt/format.h>

#include "ops/epilogue.h"
#include "ops/gemm/batched.h"
#include "ops/gemm/grid.h"
#include "ops/op.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

struct PackedGemmParams {
  int64_t k = 0, n = 0;
  int nr = 0;
  kernels::Epilogue epilogue;
};

PackedGemmParams parse(const Node& node) {
  PackedGemmParams params{node.attributes.get_int("k", -1), node.attributes.get_int("n", -1),
                          static_cast<int>(node.attributes.get_int("nr", 0)), parse_epilogue(node)};
  // Below 2^31 the size of the packed matrix fits 63 bits.
  if (params.k < 0 || params.k > INT32_MAX || params.n < 0 || params.n > INT32_MAX ||
      params.nr < 1 || params.nr > 1024) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: k {}, n {}, nr {} describe no packed matrix", describe(node),
                            params.k, params.n, params.nr));
  }
  return params;
}

// The unpacked shape of b, from the packed one.
template <typename Dimensions>
Dimensions unpacked(const Dimensions& packed, const PackedGemmParams& params) {
  Dimensions b(packed.begin(), packed.end() - 1);
  b.push_back(params.k);
  b.push_back(params.n);
  return b;
}

void infer(InferContext& context) {
  const PackedGemmParams params = parse(context.node());
  const SymShape& a = context.input_shape(0);
  const SymShape& packed = context.input_shape(1);
  SymShape b;
  if (packed) {
    if (packed->empty()) context.fail("the packed matrix is a scalar");
    const int64_t floats = kernels::packed_b_floats(params.k, params.n, params.nr);
    if (packed->back().is_known() && !packed->back().is(floats)) {
      context.fail(fmt::format("a packed matrix of {} floats; k, n and nr need {}",
                               packed->back().value, floats));
    }
    b = unpacked(*packed, params);
  }
  const SymShape y = infer_matmul(context, a, b);
  check_operand(context, 2, Dims{params.n}, "the bias");
  if (y) check_operand(context, 3, *y, "the residual");
  context.set_output(0, context.input_element(0), y);
}

struct PackedGemmState {
  MatmulShape shape;
  GemmGrid grid;
  int64_t packed_floats = 0;
};

class PackedGemmKernel final : public Kernel {
 public:
  PackedGemmKernel(PackedGemmParams params, const kernels::GemmKernels& gemm)
      : params_(params), gemm_(gemm) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto state = std::make_shared<PackedGemmState>();
    MatmulShape& s = state->shape;
    s = make_matmul_shape(context.input_shape(0), unpacked(context.input_shape(1), params_));
    const int64_t chunks =
        worthwhile_chunks(gemm_nanoseconds(s.m, s.n, s.k) * static_cast<double>(s.batch));
    const int64_t batch = std::max<int64_t>(1, s.batch);
    state->grid = make_gemm_grid(s.m, s.n, (chunks + batch - 1) / batch, gemm_);
    state->packed_floats = kernels::packed_b_floats(s.k, s.n, gemm_.nr);
    plan.chunks[0] =
        static_cast<int>(std::clamp<int64_t>(s.batch * state->grid.tiles(), 1, chunks));
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& state = context.state_as<PackedGemmState>();
    const MatmulShape& s = state.shape;
    const int64_t tiles = state.grid.tiles();
    const Range tasks = context.part(s.batch * tiles);
    for (int64_t task = tasks.begin; task < tasks.end; ++task) {
      const int64_t product = task / tiles;
      kernels::GemmArgs args;
      args.k = s.k;
      args.a = context.in<float>(0) + s.a_of(product) * s.m * s.k;
      args.lda = s.k;
      args.packed_b = context.in<float>(1) + s.b_of(product) * state.packed_floats;
      args.c = context.out<float>(0) + product * s.m * s.n;
      args.ldc = s.n;
      args.bias = context.has_input(2) ? context.in<float>(2) : nullptr;
      if (context.has_input(3)) {
        args.residual = context.in<float>(3) + product * s.m * s.n;
        args.ld_residual = s.n;
      }
      args.epilogue = params_.epilogue;
      run_tile(gemm_, args, state.grid.tile(task % tiles));
    }
    return Status::ok();
  }

 private:
  PackedGemmParams params_;
  const kernels::GemmKernels& gemm_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  const PackedGemmParams params = parse(context.node);
  const kernels::GemmKernels& gemm = kernels::gemm_kernels(context.isa);
  if (gemm.nr != params.nr) {
    throw Error(ErrorCode::kNotImplemented,
                fmt::format("{}: the weight is packed for tiles of {} columns; the {} row has {}",
                            describe(context.node), params.nr, to_string(context.isa), gemm.nr));
  }
  return std::make_unique<PackedGemmKernel>(params, gemm);
}

constexpr OpVersion kVersions[] = {
    {1,
     "A: T, B: T, bias: T?, residual: T? -> Y: T | k: int!, n: int!, nr: int!, "
     "activation: string = '', alpha: float = 0.0, beta: float = 0.0 | T: float"},
};

}  // namespace

extern const OpDef kPackedGemm = {.domain = kInternalDomain,
                                  .name = "PackedGemm",
                                  .versions = kVersions,
                                  .in_place = 0b1000,  // over the residual
                                  .infer = infer,
                                  .prepare = prepare};

}  // namespace sardonyx
