// Gemm: y = alpha * a' * b' + beta * c with optional transposition and c broadcast to y.
#include <fmt/format.h>

#include "ops/gemm/grid.h"
#include "ops/gemm/plain.h"
#include "ops/op.h"
#include "ops/widen.h"

namespace sardonyx {
namespace {

struct GemmParams {
  float alpha = 1.0f;
  float beta = 1.0f;
  bool trans_a = false;
  bool trans_b = false;
};

// `broadcast` of versions 1 and 6 needs no reading: a c of full size broadcasts to itself.
GemmParams parse(const Node& node) {
  return {node.attributes.get_float("alpha", 1.0f), node.attributes.get_float("beta", 1.0f),
          node.attributes.get_int("transA", 0) != 0, node.attributes.get_int("transB", 0) != 0};
}

void infer(InferContext& context) {
  const GemmParams params = parse(context.node());
  const SymShape& a = context.input_shape(0);
  const SymShape& b = context.input_shape(1);
  if ((a && a->size() != 2) || (b && b->size() != 2)) context.fail("A and B must be matrices");
  const auto dim = [](const SymShape& shape, bool trans, size_t i) {
    return shape ? (*shape)[trans ? 1 - i : i] : Dim::unknown();
  };
  const Dim a_inner = dim(a, params.trans_a, 1), b_inner = dim(b, params.trans_b, 0);
  if (a_inner.is_known() && b_inner.is_known() && a_inner != b_inner) {
    context.fail(fmt::format("inner dimensions {} and {} differ", a_inner.value, b_inner.value));
  }
  const Dims out = {dim(a, params.trans_a, 0), dim(b, params.trans_b, 1)};
  if (const SymShape c = context.has_input(2) ? context.input_shape(2) : std::nullopt) {
    if (c->size() > 2) context.fail("C must have at most two dimensions");
    for (size_t i = 0; i < c->size(); ++i) {
      const Dim from = (*c)[c->size() - 1 - i], to = out[1 - i];
      if (from.is_known() && to.is_known() && from != to && !from.is(1)) {
        context.fail("C does not broadcast to the output");
      }
    }
  }
  context.set_output(0, context.input_element(0), out);
}

struct GemmShape {
  int64_t m = 0, n = 0, k = 0;
  int64_t c_row = 0, c_column = 0;  // strides of C under broadcasting
};

GemmShape make_shape(const GemmParams& params, const ResolveContext& context) {
  GemmShape s;
  s.m = context.output_shape(0)[0];
  s.n = context.output_shape(0)[1];
  s.k = context.input_shape(0)[params.trans_a ? 0 : 1];
  if (!context.has_input(2)) return s;
  const Shape& c = context.input_shape(2);
  const int64_t columns = c.empty() ? 1 : c.back();
  s.c_column = columns == 1 ? 0 : 1;
  s.c_row = c.size() < 2 || c[0] == 1 ? 0 : columns;
  return s;
}

// Adds alpha and beta to a finished product: y = alpha * y + beta * c.
template <typename T, typename S>
void finish_row(T* y, int64_t n, S alpha, S beta, const T* c, int64_t c_step) {
  if (alpha != S(1)) {
    for (int64_t j = 0; j < n; ++j) y[j] = static_cast<T>(alpha * static_cast<S>(y[j]));
  }
  if (c == nullptr) return;
  if (beta == S(1)) {
    for (int64_t j = 0; j < n; ++j) y[j] += c[j * c_step];
  } else {
    for (int64_t j = 0; j < n; ++j) y[j] += static_cast<T>(beta * static_cast<S>(c[j * c_step]));
  }
}

template <typename T>
class PlainKernel final : public Kernel {
 public:
  explicit PlainKernel(GemmParams params) : params_(params) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto shape = std::make_shared<GemmShape>(make_shape(params_, context));
    plan.split(shape->m, 0.5 * static_cast<double>(shape->n * shape->k));
    plan.state = std::move(shape);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    // Integers are multiplied as unsigned, so that overflow wraps.
    using U = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                          std::type_identity<T>>::type;
    const auto& s = context.state_as<GemmShape>();
    const T* c = context.has_input(2) ? context.in<T>(2) : nullptr;
    const Range rows = context.part(s.m);
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      T* y = context.out<T>(0) + i * s.n;
      plain_product_row(context.in<U>(0) + (params_.trans_a ? i : i * s.k),
                        params_.trans_a ? s.m : 1, context.in<U>(1), params_.trans_b ? 1 : s.n,
                        params_.trans_b ? s.k : 1, s.k, s.n, reinterpret_cast<U*>(y));
      finish_row<T, double>(y, s.n, params_.alpha, params_.beta, c ? c + i * s.c_row : nullptr,
                            s.c_column);
    }
    return Status::ok();
  }

 private:
  GemmParams params_;
};

struct FloatState {
  GemmShape shape;
  GemmGrid grid;
  float* transposed(const RunContext& context) const {
    return reinterpret_cast<float*>(context.scratch + transposed_offset);
  }
  int64_t transposed_offset = 0;
};

class FloatKernel final : public Kernel {
 public:
  FloatKernel(GemmParams params, Isa isa) : params_(params), gemm_(kernels::gemm_kernels(isa)) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto state = std::make_shared<FloatState>();
    const GemmShape s = make_shape(params_, context);
    const int64_t chunks = worthwhile_chunks(gemm_nanoseconds(s.m, s.n, s.k));
    state->shape = s;
    state->grid = make_gemm_grid(s.m, s.n, chunks, gemm_);
    plan.phases = 2;
    plan.split(0, state->grid.panels(), 0.4 * static_cast<double>(s.k * gemm_.nr));
    plan.chunks[1] = static_cast<int>(state->grid.tiles());
    plan.scratch_bytes =
        kernels::packed_b_floats(s.k, s.n, gemm_.nr) * static_cast<int64_t>(sizeof(float));
    if (params_.trans_a) {
      state->transposed_offset = (plan.scratch_bytes + 63) / 64 * 64;
      plan.scratch_bytes =
          state->transposed_offset + s.m * s.k * static_cast<int64_t>(sizeof(float));
    }
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& state = context.state_as<FloatState>();
    const GemmShape& s = state.shape;
    if (s.m * s.n == 0) return Status::ok();
    auto* packed = reinterpret_cast<float*>(context.scratch);
    if (context.phase == 0) {
      const Range panels = context.part(state.grid.panels());
      kernels::pack_b(context.in<float>(1), params_.trans_b ? 1 : s.n, params_.trans_b ? s.k : 1,
                      s.k, s.n, gemm_.nr, packed, panels.begin, panels.end);
      if (params_.trans_a) transpose_rows(context, state);
      return Status::ok();
    }
    const float* c = context.has_input(2) ? context.in<float>(2) : nullptr;
    const bool fused_bias = c != nullptr && params_.alpha == 1.0f && params_.beta == 1.0f &&
                            s.c_row == 0 && s.c_column == 1;
    kernels::GemmArgs args;
    args.k = s.k;
    args.a = params_.trans_a ? state.transposed(context) : context.in<float>(0);
    args.lda = s.k;
    args.packed_b = packed;
    args.c = context.out<float>(0);
    args.ldc = s.n;
    args.bias = fused_bias ? c : nullptr;
    const GemmTile tile = state.grid.tile(context.chunk);
    run_tile(gemm_, args, tile);
    if (fused_bias || (c == nullptr && params_.alpha == 1.0f)) return Status::ok();
    const Range columns = tile.columns;
    for (int64_t i = tile.rows.begin; i < tile.rows.end; ++i) {
      finish_row<float, float>(
          args.c + i * s.n + columns.begin, columns.end - columns.begin, params_.alpha,
          params_.beta, c ? c + i * s.c_row + columns.begin * s.c_column : nullptr, s.c_column);
    }
    return Status::ok();
  }

 private:
  void transpose_rows(const RunContext& context, const FloatState& state) const {
    const GemmShape& s = state.shape;
    const float* a = context.in<float>(0);
    float* out = state.transposed(context);
    const Range rows = context.part(s.m);
    constexpr int64_t kBlock = 16;
    for (int64_t i0 = rows.begin; i0 < rows.end; i0 += kBlock) {
      const int64_t i1 = std::min(rows.end, i0 + kBlock);
      for (int64_t k = 0; k < s.k; ++k) {
        for (int64_t i = i0; i < i1; ++i) out[i * s.k + k] = a[k * s.m + i];
      }
    }
  }

  GemmParams params_;
  const kernels::GemmKernels& gemm_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  const GemmParams params = parse(context.node);
  switch (context.input_element(0)) {
    case DataType::kInt32:
      return std::make_unique<PlainKernel<int32_t>>(params);
    case DataType::kInt64:
      return std::make_unique<PlainKernel<int64_t>>(params);
    case DataType::kUint32:
      return std::make_unique<PlainKernel<uint32_t>>(params);
    case DataType::kUint64:
      return std::make_unique<PlainKernel<uint64_t>>(params);
    case DataType::kDouble:
      return std::make_unique<PlainKernel<double>>(params);
    default:
      compute_type(context);  // refuses what is not a float
      return widen(context, std::make_unique<FloatKernel>(params, context.isa), DataType::kFloat);
  }
}

#define GEMM_ATTRIBUTES "alpha: float = 1.0, beta: float = 1.0, transA: int = 0, transB: int = 0"
constexpr OpVersion kVersions[] = {
    {1, "A: T, B: T, C: T -> Y: T | broadcast: int = 0, " GEMM_ATTRIBUTES " | T: @ieee"},
    {6, "A: T, B: T, C: T -> Y: T | broadcast: int = 0, " GEMM_ATTRIBUTES " | T: @ieee"},
    {7, "A: T, B: T, C: T -> Y: T | " GEMM_ATTRIBUTES " | T: @ieee"},
    {9, "A: T, B: T, C: T -> Y: T | " GEMM_ATTRIBUTES " | T: @ieee @wide"},
    {11, "A: T, B: T, C: T? -> Y: T | " GEMM_ATTRIBUTES " | T: @ieee @wide"},
    {13, "A: T, B: T, C: T? -> Y: T | " GEMM_ATTRIBUTES " | T: @float @wide"},
};
#undef GEMM_ATTRIBUTES

}  // namespace

extern const OpDef kGemm = {
    .domain = "", .name = "Gemm", .versions = kVersions, .infer = infer, .prepare = prepare};

}  // namespace sardonyx
