// The kernel of LSTM, GRU and RNN around a cell. Phase 0 multiplies X of all steps by W; phase 1
// walks through time, one chunk for each direction and block of batch rows, multiplying the state
// by R and applying the cell. The internal operators (PackedLSTM, ...) take W and R as
// PackRecurrent lays them out; the standard ones pack them in phase 0 of every run, each chunk its
// own panels. Two phases, as ops/widen.h allows. A row whose length is 0 ends in its initial state.
// Used by the six operators.
#pragma once

#include <fmt/format.h>

#include <cstring>

#include "ops/gemm/grid.h"
#include "ops/rnn/recurrent.h"
#include "ops/rnn/recurrent_cell.h"
#include "ops/typed.h"
#include "ops/widen.h"
#include "sardonyx/error.h"

namespace sardonyx {

struct RecurrentShape {
  int64_t steps = 0, batch = 0, input = 0, hidden = 0;
  int64_t w_panels = 0;      // of a direction
  int64_t batch_blocks = 1;  // chunks of phase 1 in a direction
  // Elements of T from the start of scratch.
  int64_t w_packed = 0, r_packed = 0, bias = 0, projected = 0;
  // Elements of T from the start of a chunk's scratch.
  int64_t h = 0, c = 0, extra = 0;
};

template <typename T, template <typename> typename Cell>
class RecurrentKernel final : public Kernel {
 public:
  static constexpr int64_t kGates = Cell<T>::kGates;

  RecurrentKernel(const PrepareContext& context, RecurrentParams params, Cell<T> cell)
      : params_(std::move(params)), cell_(std::move(cell)), product_(context.isa) {
    if (params_.is_packed() && params_.nr != product_.nr()) {
      throw Error(
          ErrorCode::kNotImplemented,
          fmt::format("{}: the weights are packed for tiles of {} columns; the {} row has "
                      "{}",
                      describe(context.node), params_.nr, to_string(context.isa), product_.nr()));
    }
  }

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto shape = std::make_shared<RecurrentShape>();
    RecurrentShape& s = *shape;
    const Shape& x = context.input_shape(0);
    s.steps = x[params_.batch_first ? 1 : 0];
    s.batch = x[params_.batch_first ? 0 : 1];
    s.input = x[2];
    s.hidden = params_.is_packed() ? params_.hidden_size : context.input_shape(2)[2];
    s.w_panels = w_matrix(s).total_panels;
    const int64_t d = params_.directions, columns = kGates * s.hidden;
    if (static_cast<double>(s.steps) * static_cast<double>(s.batch) *
            static_cast<double>(d * columns) >
        0x1p48) {
      return Status(ErrorCode::kInvalidArgument, "the sequence is too long for its gates");
    }
    int64_t end = 0;
    const auto place = [](int64_t& total, int64_t elements) {
      const int64_t at = total;
      total += (elements + 15) / 16 * 16;
      return at;
    };
    if (!params_.is_packed()) {
      s.w_packed = place(end, d * w_matrix(s).elements);
      s.r_packed = place(end, d * r_matrices(s).elements);
    }
    s.bias = place(end, d * columns);
    s.projected = place(end, d * s.steps * s.batch * columns);
    plan.scratch_bytes = end * static_cast<int64_t>(sizeof(T));

    plan.phases = 2;
    const double projection =
        static_cast<double>(d) * gemm_nanoseconds(s.steps * s.batch, columns, s.input);
    const int64_t units = std::max<int64_t>(1, d * s.w_panels);
    plan.split(0, units, projection / static_cast<double>(units));
    const double walk = static_cast<double>(s.steps) * gemm_nanoseconds(s.batch, columns, s.hidden);
    const int64_t blocks = (s.batch + product_.mr() - 1) / product_.mr();
    s.batch_blocks = std::clamp<int64_t>(std::min(blocks, worthwhile_chunks(walk)), 1,
                                         std::max<int64_t>(1, kMaxChunks / d));
    plan.chunks[1] = static_cast<int>(d * s.batch_blocks);
    const int64_t rows = rows_of(s, 0).end;
    int64_t chunk_end = 0;
    place(chunk_end, rows * columns);
    s.h = place(chunk_end, rows * s.hidden);
    s.c = place(chunk_end, rows * s.hidden);
    s.extra = place(chunk_end, rows * s.hidden * Cell<T>::kExtra);
    plan.scratch_bytes_per_chunk = chunk_end * static_cast<int64_t>(sizeof(T));
    plan.state = std::move(shape);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& s = context.state_as<RecurrentShape>();
    const PackedMatrices matrices = r_matrices(s);
    if (context.phase == 1) return walk(context, s, matrices);
    if (!params_.is_packed()) {
      const Range part = context.part(params_.directions * matrices.total_panels);
      for_each_direction(part, matrices.total_panels, [&](int64_t d, int64_t first, int64_t last) {
        pack_matrices(matrices, context.in<T>(2) + d * kGates * s.hidden * s.hidden,
                      scratch(context, s.r_packed) + d * matrices.elements, first, last);
      });
    }
    const Range part = context.part(params_.directions * s.w_panels);
    for_each_direction(part, s.w_panels, [&](int64_t d, int64_t first, int64_t last) {
      project(context, s, d, first, last);
    });
    return Status::ok();
  }

 private:
  // Of one direction.
  PackedMatrices w_matrix(const RecurrentShape& s) const {
    static constexpr int kAllGates[] = {static_cast<int>(kGates)};
    return {kAllGates, s.hidden, s.input, product_.nr()};
  }
  PackedMatrices r_matrices(const RecurrentShape& s) const {
    return {Cell<T>::kMatrixGates, s.hidden, s.hidden, product_.nr()};
  }

  static T* scratch(const RunContext& context, int64_t offset) {
    return reinterpret_cast<T*>(context.scratch) + offset;
  }

  // Batch rows of a block, in whole tiles of the GEMM kernel; block 0 is the longest.
  Range rows_of(const RecurrentShape& s, int64_t block) const {
    const int64_t tiles = (s.batch + product_.mr() - 1) / product_.mr();
    const int64_t per_block = (tiles + s.batch_blocks - 1) / s.batch_blocks * product_.mr();
    return {std::min(s.batch, block * per_block), std::min(s.batch, (block + 1) * per_block)};
  }

  // Panels [first, last) of X * W + biases in direction d, for all steps.
  void project(const RunContext& context, const RecurrentShape& s, int64_t d, int64_t first,
               int64_t last) const {
    const int64_t columns = kGates * s.hidden;
    const int64_t begin = first * product_.nr(), end = std::min(columns, last * product_.nr());
    const PackedMatrices matrix = w_matrix(s);
    const T* packed = nullptr;
    if (params_.is_packed()) {
      packed = context.in<T>(1) + d * matrix.elements;
    } else {
      T* to = scratch(context, s.w_packed) + d * matrix.elements;
      pack_matrices(matrix, context.in<T>(1) + d * columns * s.input, to, first, last);
      packed = to;
    }
    PanelArgs<T> args;
    if (context.has_input(3)) {
      const T* given = context.in<T>(3) + d * 2 * columns;
      T* bias = scratch(context, s.bias) + d * columns;
      for (int64_t j = begin; j < end; ++j) {
        const bool both = cell_.adds_recurrent_bias(j / s.hidden);
        bias[j] = both ? given[j] + given[columns + j] : given[j];
      }
      args.bias = bias + begin;
    }
    args.m = s.steps * s.batch;
    args.n = end - begin;
    args.k = s.input;
    args.a = context.in<T>(0);
    args.lda = s.input;
    args.packed = packed + begin * s.input;
    args.c = scratch(context, s.projected) + d * s.steps * s.batch * columns + begin;
    args.ldc = columns;
    product_.run(args);
  }

  Status walk(const RunContext& context, const RecurrentShape& s,
              const PackedMatrices& matrices) const {
    const int64_t d = context.chunk / s.batch_blocks;
    const Range block = rows_of(s, context.chunk % s.batch_blocks);
    const int64_t rows = block.end - block.begin, hidden = s.hidden, columns = kGates * hidden;
    if (rows <= 0) return Status::ok();
    const int32_t* lengths = context.has_input(4) ? context.in<int32_t>(4) + block.begin : nullptr;
    int64_t longest = s.steps;
    if (lengths != nullptr) {
      for (int64_t row = 0; row < rows; ++row) {
        if (lengths[row] < 0 || lengths[row] > s.steps) {
          return Status(ErrorCode::kInvalidArgument, "sequence_lens holds " +
                                                         std::to_string(lengths[row]) + "; X has " +
                                                         std::to_string(s.steps) + " steps");
        }
      }
      longest = *std::max_element(lengths, lengths + rows);
    }
    T* own = reinterpret_cast<T*>(context.chunk_scratch);
    CellArgs<T> args;
    args.direction = static_cast<int>(d);
    args.hidden = hidden;
    args.gates = own;
    args.h = own + s.h;
    args.c = own + s.c;
    args.extra = own + s.extra;
    if (Cell<T>::kExtra > 0) std::fill_n(args.extra, rows * hidden * Cell<T>::kExtra, T(0));
    if (context.has_input(7)) args.peepholes = context.in<T>(7) + d * 3 * hidden;
    if (context.has_input(3)) args.recurrent_bias = context.in<T>(3) + (d * 2 + 1) * columns;
    args.lengths = lengths;
    args.product = &product_;
    args.matrices = &matrices;
    args.packed = (params_.is_packed() ? context.in<T>(2) : scratch(context, s.r_packed)) +
                  d * matrices.elements;
    load_state(context, s, d, block, 5, args.h);
    load_state(context, s, d, block, 6, args.c);

    const T* projected = scratch(context, s.projected) + d * s.steps * s.batch * columns;
    const size_t hidden_bytes = static_cast<size_t>(hidden) * sizeof(T);
    for (; args.step < longest; ++args.step) {
      // Rows behind the last one that still runs rest; those before it are computed in vain.
      args.rows = rows;
      while (!args.is_active(args.rows - 1)) --args.rows;
      for (int64_t row = 0; row < args.rows; ++row) {
        T* gates = args.gates + row * columns;
        if (args.is_active(row)) {
          const int64_t t = time_of(s, d, lengths, row, args.step), b = block.begin + row;
          const int64_t at = params_.batch_first ? b * s.steps + t : t * s.batch + b;
          std::memcpy(gates, projected + at * columns, static_cast<size_t>(columns) * sizeof(T));
        } else {
          std::fill_n(gates, columns, T(0));
        }
      }
      cell_.step(args);
      if (!context.has_output(0)) continue;
      for (int64_t row = 0; row < args.rows; ++row) {
        if (!args.is_active(row)) continue;
        const int64_t t = time_of(s, d, lengths, row, args.step);
        std::memcpy(output_row(context, s, d, block.begin + row, t), args.h + row * hidden,
                    hidden_bytes);
      }
    }
    if (context.has_output(0) && lengths != nullptr) {
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t t = lengths[row]; t < s.steps; ++t) {
          std::fill_n(output_row(context, s, d, block.begin + row, t), hidden, T(0));
        }
      }
    }
    store_state(context, s, d, block, 1, args.h);
    store_state(context, s, d, block, 2, args.c);
    return Status::ok();
  }

  // The place in X of a row's step, backward within the row's own length.
  int64_t time_of(const RecurrentShape& s, int64_t d, const int32_t* lengths, int64_t row,
                  int64_t step) const {
    if (!params_.is_reverse(static_cast<int>(d))) return step;
    return (lengths != nullptr ? lengths[row] : s.steps) - 1 - step;
  }

  T* output_row(const RunContext& context, const RecurrentShape& s, int64_t d, int64_t b,
                int64_t t) const {
    const int64_t at = params_.batch_first ? (b * s.steps + t) * params_.directions + d
                                           : (t * params_.directions + d) * s.batch + b;
    return context.out<T>(0) + at * s.hidden;
  }

  int64_t state_row(const RecurrentShape& s, int64_t d, int64_t b) const {
    return (params_.batch_first ? b * params_.directions + d : d * s.batch + b) * s.hidden;
  }

  void load_state(const RunContext& context, const RecurrentShape& s, int64_t d, Range block,
                  size_t input, T* to) const {
    for (int64_t b = block.begin; b < block.end; ++b, to += s.hidden) {
      if (context.has_input(input)) {
        std::copy_n(context.in<T>(input) + state_row(s, d, b), s.hidden, to);
      } else {
        std::fill_n(to, s.hidden, T(0));
      }
    }
  }

  void store_state(const RunContext& context, const RecurrentShape& s, int64_t d, Range block,
                   size_t output, const T* from) const {
    if (!context.has_output(output)) return;
    for (int64_t b = block.begin; b < block.end; ++b, from += s.hidden) {
      std::copy_n(from, s.hidden, context.out<T>(output) + state_row(s, d, b));
    }
  }

  RecurrentParams params_;
  Cell<T> cell_;
  PanelProduct<T> product_;
};

// make(TypeTag<T>{}) gives the Cell<T>.
template <template <typename> typename Cell, typename Make>
std::unique_ptr<Kernel> prepare_recurrent(const PrepareContext& context,
                                          const RecurrentParams& params, Make make) {
  const DataType compute = compute_type(context);
  const auto build = [&](auto tag) {
    using T = typename decltype(tag)::Type;
    return widen(context, std::make_unique<RecurrentKernel<T, Cell>>(context, params, make(tag)),
                 compute);
  };
  return compute == DataType::kDouble ? build(TypeTag<double>{}) : build(TypeTag<float>{});
}

}  // namespace sardonyx
