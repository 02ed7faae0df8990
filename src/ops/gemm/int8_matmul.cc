#include "ops/gemm/int8_matmul.h"

#include <algorithm>

#include "kernels/int8_gemm/int8_gemm.h"
#include "ops/gemm/batched.h"
#include "ops/gemm/grid.h"

namespace sardonyx {
namespace {

using kernels::Int8Row;

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

struct Int8MatmulState {
  MatmulShape shape;
  GemmGrid grid;
  int64_t a_row_bytes = 0;
  int64_t packed_bytes = 0;                     // of one matrix b
  int64_t a_offset = 0, sums_offset = 0;        // in the shared scratch; packed b lies first
  int64_t tile_rows = 0, tile_columns = 0;      // at most
  int64_t zeros_offset = 0, scales_offset = 0;  // in a chunk's scratch; rows lie first
};

class Int8MatmulKernel final : public Kernel {
 public:
  Int8MatmulKernel(const Int8Matmul& form, const kernels::Int8GemmKernels& gemm)
      : form_(form), gemm_(gemm) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto state = std::make_shared<Int8MatmulState>();
    MatmulShape& s = state->shape;
    const Shape& b = context.input_shape(form_.b);
    s = make_matmul_shape(context.input_shape(form_.a),
                          form_.packed ? unpacked_int8_b(b, *form_.packed) : b);
    if (s.batch * s.m * s.n == 0) {
      plan.state = std::move(state);
      return Status::ok();
    }
    const int64_t chunks =
        worthwhile_chunks(int8_gemm_nanoseconds(s.m, s.n, s.k) * static_cast<double>(s.batch));
    state->grid = make_gemm_grid(s.m, s.n, (chunks + s.batch - 1) / s.batch, gemm_);
    state->a_row_bytes = gemm_.packed_a_bytes(s.k);
    state->packed_bytes = kernels::packed_int8_b_bytes(s.k, s.n, gemm_.nr);
    const int64_t rows = s.a_count * s.m;
    state->a_offset = form_.packed ? 0 : aligned(s.b_count * state->packed_bytes);
    state->sums_offset = state->a_offset + aligned(rows * state->a_row_bytes);
    plan.scratch_bytes = state->sums_offset + rows * int64_t{sizeof(int32_t)};
    for (int64_t i = 0; i < state->grid.tiles(); ++i) {
      const GemmTile tile = state->grid.tile(i);
      state->tile_rows = std::max(state->tile_rows, tile.rows.end - tile.rows.begin);
      state->tile_columns = std::max(state->tile_columns, tile.columns.end - tile.columns.begin);
    }
    state->zeros_offset = aligned(state->tile_rows * int64_t{sizeof(Int8Row)});
    state->scales_offset =
        state->zeros_offset + aligned(state->tile_columns * int64_t{sizeof(int32_t)});
    plan.scratch_bytes_per_chunk =
        state->scales_offset + aligned(state->tile_columns * int64_t{sizeof(float)});
    int phase = 0;
    if (!form_.packed) {
      plan.split(phase++, s.b_count * state->grid.panels(),
                 0.15 * static_cast<double>(s.k * gemm_.nr));
    }
    plan.split(phase++, rows, 0.1 * static_cast<double>(s.k));
    plan.chunks[static_cast<size_t>(phase++)] =
        static_cast<int>(std::clamp<int64_t>(s.batch * state->grid.tiles(), 1, chunks));
    plan.phases = phase;
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& state = context.state_as<Int8MatmulState>();
    const MatmulShape& s = state.shape;
    if (s.batch * s.m * s.n == 0) return Status::ok();
    const int phase = context.phase + (form_.packed ? 1 : 0);
    if (phase == 0) {
      pack_b(context, state);
    } else if (phase == 1) {
      pack_a(context, state);
    } else {
      const int64_t tiles = state.grid.tiles();
      const Range tasks = context.part(s.batch * tiles);
      for (int64_t task = tasks.begin; task < tasks.end; ++task) {
        multiply(context, state, task / tiles, state.grid.tile(task % tiles));
      }
    }
    return Status::ok();
  }

 private:
  bool b_signed(const RunContext& context) const {
    return form_.packed ? form_.packed->is_signed : context.input(form_.b).type == DataType::kInt8;
  }
  bool a_signed(const RunContext& context) const {
    return context.input(form_.a).type == DataType::kInt8;
  }

  void pack_b(const RunContext& context, const Int8MatmulState& state) const {
    const MatmulShape& s = state.shape;
    const int64_t panels = state.grid.panels();
    Range part = context.part(s.b_count * panels);
    while (part.begin < part.end) {
      const int64_t matrix = part.begin / panels;
      const int64_t first = part.begin % panels;
      const int64_t last = std::min(panels, first + part.end - part.begin);
      kernels::pack_int8_b(gemm_, context.in<uint8_t>(form_.b) + matrix * s.k * s.n,
                           b_signed(context), s.n, 1, s.k, s.n, gemm_.nr,
                           context.scratch + matrix * state.packed_bytes, first, last);
      part.begin += last - first;
    }
  }

  void pack_a(const RunContext& context, const Int8MatmulState& state) const {
    const MatmulShape& s = state.shape;
    auto* sums = reinterpret_cast<int32_t*>(context.scratch + state.sums_offset);
    const uint8_t flip = kernels::flip_of_a(a_signed(context));
    const Range rows = context.part(s.a_count * s.m);
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      sums[i] = gemm_.pack_a(context.in<uint8_t>(form_.a) + i * s.k, s.k, flip,
                             context.scratch + state.a_offset + i * state.a_row_bytes);
    }
  }

  void multiply(const RunContext& context, const Int8MatmulState& state, int64_t product,
                const GemmTile& tile) const {
    const MatmulShape& s = state.shape;
    const int64_t a_row = s.a_of(product) * s.m + tile.rows.begin;
    kernels::Int8GemmArgs args;
    args.m = tile.rows.end - tile.rows.begin;
    args.n = tile.columns.end - tile.columns.begin;
    args.k = s.k;
    args.packed_a = context.scratch + state.a_offset + a_row * state.a_row_bytes;
    args.packed_b = (form_.packed ? context.in<std::byte>(form_.b) : context.scratch) +
                    s.b_of(product) * state.packed_bytes +
                    tile.columns.begin / gemm_.nr * kernels::int8_panel_bytes(s.k, gemm_.nr);
    fill_rows(context, state, a_row, product * s.m + tile.rows.begin, args);
    fill_columns(context, state, s.b_of(product) * s.n + tile.columns.begin, args);
    if (context.has_input(form_.bias)) {
      args.column_bias = context.in<float>(form_.bias) + tile.columns.begin;
    }
    const TensorView& y = context.output(0);
    args.output = y.type == DataType::kInt32   ? kernels::Int8Output::kInt32
                  : y.type == DataType::kFloat ? kernels::Int8Output::kFloat
                  : y.type == DataType::kInt8  ? kernels::Int8Output::kInt8
                                               : kernels::Int8Output::kUint8;
    const int64_t at = (product * s.m + tile.rows.begin) * s.n + tile.columns.begin;
    args.c = y.as<std::byte>() + at * bits_of(y.type) / 8;
    args.ldc = s.n;
    gemm_.run(args);
  }

  void fill_rows(const RunContext& context, const Int8MatmulState& state, int64_t a_row,
                 int64_t y_row, kernels::Int8GemmArgs& args) const {
    const auto* sums = reinterpret_cast<const int32_t*>(context.scratch + state.sums_offset);
    auto* rows = reinterpret_cast<Int8Row*>(context.chunk_scratch);
    const bool is_signed = a_signed(context);
    // The scales of one value each are multiplied in the order of the standard.
    const bool column_scales = !is_single(context, form_.b_scale);
    const bool row_scales =
        !is_single(context, form_.a_scale) || !is_single(context, form_.y_scale);
    for (int64_t i = 0; i < args.m; ++i) {
      Int8Row& row = rows[i];
      row = Int8Row();
      row.sum = sums[a_row + i];
      row.zero = kernels::zero_of_packed_a(zero_at(context, form_.a_zero, a_row + i), is_signed);
      row.out_zero = zero_at(context, form_.y_zero, y_row + i);
      if (column_scales && !row_scales) continue;
      row.scale = scale_at(context, form_.a_scale, a_row + i);
      if (!column_scales) row.scale *= scale_at(context, form_.b_scale, 0);
      row.scale /= scale_at(context, form_.y_scale, y_row + i);
    }
    args.rows = rows;
  }

  void fill_columns(const RunContext& context, const Int8MatmulState& state, int64_t column,
                    kernels::Int8GemmArgs& args) const {
    auto* zeros = reinterpret_cast<int32_t*>(context.chunk_scratch + state.zeros_offset);
    if (fill_zeros(context, column, args.n, zeros)) args.column_zero = zeros;
    if (is_single(context, form_.b_scale)) return;
    auto* scales = reinterpret_cast<float*>(context.chunk_scratch + state.scales_offset);
    const TensorView& b_scale = context.input(form_.b_scale);
    load_floats(b_scale.type, b_scale.data, column % b_scale.size(), args.n, scales);
    if (is_single(context, form_.a_scale) && is_single(context, form_.y_scale)) {
      const float a_scale = scale_at(context, form_.a_scale, 0);
      const float y_scale = scale_at(context, form_.y_scale, 0);
      for (int64_t j = 0; j < args.n; ++j) scales[j] = a_scale * scales[j] / y_scale;
    }
    args.column_scale = scales;
  }

  // False when all are 0: nothing is written then, or all of it.
  bool fill_zeros(const RunContext& context, int64_t column, int64_t n, int32_t* zeros) const {
    const bool is_signed = b_signed(context);
    if (is_single(context, form_.b_zero)) {
      const int32_t zero = kernels::zero_of_packed_b(zero_at(context, form_.b_zero, 0), is_signed);
      if (zero != 0) std::fill_n(zeros, n, zero);
      return zero != 0;
    }
    bool any = false;
    for (int64_t j = 0; j < n; ++j) {
      zeros[j] = kernels::zero_of_packed_b(zero_at(context, form_.b_zero, column + j), is_signed);
      any |= zeros[j] != 0;
    }
    return any;
  }

  Int8Matmul form_;
  const kernels::Int8GemmKernels& gemm_;
};

}  // namespace

SymShape infer_int8_matmul(InferContext& context, const Int8Matmul& form) {
  const SymShape& a = context.input_shape(form.a);
  SymShape b = context.input_shape(form.b);
  if (form.packed && b) {
    if (b->empty()) context.fail("the packed matrix is a scalar");
    b = unpacked_int8_b(*b, *form.packed);
  }
  SymShape y = infer_matmul(context, a, b);
  for (size_t input : {form.a_scale, form.a_zero}) check_parameter(context, input, a, 2, 1);
  for (size_t input : {form.b_scale, form.b_zero}) check_parameter(context, input, b, 1, 2);
  // Without rows of its own y has one scale.
  const bool rows = a && a->size() >= 2 && b && b->size() >= 2;
  const SymShape rows_of_y = rows ? y : SymShape(Dims());
  for (size_t input : {form.y_scale, form.y_zero}) {
    if (a && b) check_parameter(context, input, rows_of_y, 2, 1);
  }
  return y;
}

std::unique_ptr<Kernel> int8_matmul_kernel(const PrepareContext& context, const Int8Matmul& form) {
  return std::make_unique<Int8MatmulKernel>(form, kernels::int8_gemm_kernels(context.isa));
}

}  // namespace sardonyx
