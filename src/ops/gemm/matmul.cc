// MatMul: numpy's matmul. Float runs the packed GEMM, packing b into scratch; a constant b is
// packed ahead of time by the CPU provider's lowering (PackGemmB, PackedGemm).
#include "ops/gemm/batched.h"
#include "ops/gemm/grid.h"
#include "ops/gemm/plain.h"
#include "ops/op.h"
#include "ops/widen.h"

namespace sardonyx {
namespace {

void infer(InferContext& context) {
  context.set_output(0, context.input_element(0),
                     infer_matmul(context, context.input_shape(0), context.input_shape(1)));
}

template <typename T>
class PlainKernel final : public Kernel {
 public:
  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto shape = std::make_shared<MatmulShape>(
        make_matmul_shape(context.input_shape(0), context.input_shape(1)));
    plan.split(shape->batch * shape->m, 0.5 * static_cast<double>(shape->n * shape->k));
    plan.state = std::move(shape);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& s = context.state_as<MatmulShape>();
    const Range rows = context.part(s.batch * s.m);
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const int64_t product = row / s.m;
      plain_product_row(context.in<T>(0) + (s.a_of(product) * s.m + row % s.m) * s.k, 1,
                        context.in<T>(1) + s.b_of(product) * s.k * s.n, s.n, 1, s.k, s.n,
                        context.out<T>(0) + row * s.n);
    }
    return Status::ok();
  }
};

struct FloatState {
  MatmulShape shape;
  GemmGrid grid;
  int64_t packed_floats = 0;  // of one matrix
  bool private_b = false;     // each chunk packs what it multiplies
  bool direct = false;        // b is not packed: it serves one or two rows
};

class FloatKernel final : public Kernel {
 public:
  explicit FloatKernel(Isa isa) : gemm_(kernels::gemm_kernels(isa)) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto state = std::make_shared<FloatState>();
    MatmulShape& s = state->shape;
    s = make_matmul_shape(context.input_shape(0), context.input_shape(1));
    state->direct = s.m <= 2 && s.b_count == s.batch;
    if (state->direct) {
      plan.split(s.batch * column_blocks(s), 0.1 * static_cast<double>(s.m * s.k * kColumnBlock));
      plan.state = std::move(state);
      return Status::ok();
    }
    const double each = gemm_nanoseconds(s.m, s.n, s.k);
    const int64_t chunks = worthwhile_chunks(each * static_cast<double>(s.batch));
    state->packed_floats = kernels::packed_b_floats(s.k, s.n, gemm_.nr);
    // A matrix that serves one product is best packed by the chunk that multiplies it; when there
    // are fewer products than chunks, packing and multiplying are split separately.
    state->private_b = s.b_index.empty() && s.b_count == s.batch && s.batch >= chunks;
    if (state->private_b) {
      state->grid = make_gemm_grid(s.m, s.n, 1, gemm_);
      plan.chunks[0] = static_cast<int>(chunks);
      plan.scratch_bytes_per_chunk = state->packed_floats * static_cast<int64_t>(sizeof(float));
    } else {
      state->grid =
          make_gemm_grid(s.m, s.n, (chunks + s.batch - 1) / std::max<int64_t>(1, s.batch), gemm_);
      plan.phases = 2;
      plan.split(0, s.b_count * state->grid.panels(), 0.4 * static_cast<double>(s.k * gemm_.nr));
      plan.chunks[1] =
          static_cast<int>(std::clamp<int64_t>(s.batch * state->grid.tiles(), 1, chunks));
      plan.scratch_bytes = s.b_count * state->packed_floats * static_cast<int64_t>(sizeof(float));
    }
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& state = context.state_as<FloatState>();
    const MatmulShape& s = state.shape;
    if (s.batch * s.m * s.n == 0) return Status::ok();
    if (state.direct) {
      multiply_rows(context, s);
      return Status::ok();
    }
    if (state.private_b) {
      auto* packed = reinterpret_cast<float*>(context.chunk_scratch);
      const Range products = context.part(s.batch);
      for (int64_t product = products.begin; product < products.end; ++product) {
        kernels::pack_b(context.in<float>(1) + product * s.k * s.n, s.n, 1, s.k, s.n, gemm_.nr,
                        packed);
        multiply(context, s, product, packed, {{0, s.m}, {0, s.n}});
      }
      return Status::ok();
    }
    auto* packed = reinterpret_cast<float*>(context.scratch);
    if (context.phase == 0) {
      pack(context, state, packed);
      return Status::ok();
    }
    const int64_t tiles = state.grid.tiles();
    const Range tasks = context.part(s.batch * tiles);
    for (int64_t task = tasks.begin; task < tasks.end; ++task) {
      const int64_t product = task / tiles;
      multiply(context, s, product, packed + s.b_of(product) * state.packed_floats,
               state.grid.tile(task % tiles));
    }
    return Status::ok();
  }

 private:
  static constexpr int64_t kColumnBlock = 256;
  static int64_t column_blocks(const MatmulShape& s) {
    return (s.n + kColumnBlock - 1) / kColumnBlock;
  }

  static void multiply_rows(const RunContext& context, const MatmulShape& s) {
    const int64_t blocks = column_blocks(s);
    const Range part = context.part(s.batch * blocks);
    for (int64_t i = part.begin; i < part.end; ++i) {
      const int64_t product = i / blocks, first = i % blocks * kColumnBlock;
      const float* b = context.in<float>(1) + s.b_of(product) * s.k * s.n + first;
      for (int64_t row = 0; row < s.m; ++row) {
        plain_product_row(context.in<float>(0) + (s.a_of(product) * s.m + row) * s.k, 1, b, s.n, 1,
                          s.k, std::min(kColumnBlock, s.n - first),
                          context.out<float>(0) + (product * s.m + row) * s.n + first);
      }
    }
  }

  void pack(const RunContext& context, const FloatState& state, float* packed) const {
    const MatmulShape& s = state.shape;
    const int64_t panels = state.grid.panels();
    Range part = context.part(s.b_count * panels);
    while (part.begin < part.end) {
      const int64_t matrix = part.begin / panels;
      const int64_t first = part.begin % panels;
      const int64_t last = std::min(panels, first + part.end - part.begin);
      kernels::pack_b(context.in<float>(1) + matrix * s.k * s.n, s.n, 1, s.k, s.n, gemm_.nr,
                      packed + matrix * state.packed_floats, first, last);
      part.begin += last - first;
    }
  }

  void multiply(const RunContext& context, const MatmulShape& s, int64_t product,
                const float* packed, const GemmTile& tile) const {
    kernels::GemmArgs args;
    args.k = s.k;
    args.a = context.in<float>(0) + s.a_of(product) * s.m * s.k;
    args.lda = s.k;
    args.packed_b = packed;
    args.c = context.out<float>(0) + product * s.m * s.n;
    args.ldc = s.n;
    run_tile(gemm_, args, tile);
  }

  const kernels::GemmKernels& gemm_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  switch (context.input_element(0)) {
    case DataType::kInt32:
    case DataType::kUint32:
      return std::make_unique<PlainKernel<uint32_t>>();
    case DataType::kInt64:
    case DataType::kUint64:
      return std::make_unique<PlainKernel<uint64_t>>();
    case DataType::kDouble:
      return std::make_unique<PlainKernel<double>>();
    default:
      compute_type(context);  // refuses what is not a float
      return widen(context, std::make_unique<FloatKernel>(context.isa), DataType::kFloat);
  }
}

constexpr OpVersion kVersions[] = {
    {1, "A: T, B: T -> Y: T | | T: @ieee"},
    {9, "A: T, B: T -> Y: T | | T: @ieee @wide"},
    {13, "A: T, B: T -> Y: T | | T: @float @wide"},
};

}  // namespace

extern const OpDef kMatMul = {
    .domain = "", .name = "MatMul", .versions = kVersions, .infer = infer, .prepare = prepare};

}  // namespace sardonyx
