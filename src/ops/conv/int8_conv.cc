// A matrix product for each group: filters are the rows of a, output pixels the columns of b, which
// is gathered from the input a few panels at a time.
#include "ops/conv/int8_conv.h"

#include <algorithm>
#include <cstring>

#include "kernels/int8_gemm/int8_gemm.h"
#include "ops/conv/conv.h"
#include "ops/conv/taps.h"
#include "ops/gemm/grid.h"

namespace sardonyx {
namespace {

using kernels::Int8Row;

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// Bytes of gathered panels that are multiplied at once, and the most panels.
constexpr int64_t kBlockBytes = 96 * 1024;
constexpr int64_t kMaxPanels = 8;

struct Int8ConvState {
  TapAxes axes;
  int64_t batch = 0, groups = 1;
  int64_t channels = 0, filters = 0;  // of a group
  int64_t taps = 1, in_size = 1, out_size = 1;
  int64_t k = 0;
  int64_t panels = 0, block_panels = 1, blocks = 0;
  int64_t a_row_bytes = 0;
  int64_t rows_offset = 0, zeros_offset = 0;  // in the shared scratch; packed filters lie first
  int64_t lines_offset = 0;  // four gathered rows, in a chunk's scratch behind the panels

  int64_t units() const { return batch * groups * blocks; }
};

// Elements [begin, begin + n) of the output pixels that filter position `tap` sees in one input
// plane; `pad` outside of it.
void gather_pixels(const TapAxes& axes, const uint8_t* plane, int64_t tap, int64_t begin, int64_t n,
                   uint8_t pad, uint8_t* out) {
  const TapAxis& inner = axes.back();
  SmallVector<int64_t, 4> at(axes.size(), 0), offset(axes.size(), 0);
  for (size_t i = axes.size(); i-- > 0;) {
    at[i] = begin % axes[i].dense;
    begin /= axes[i].dense;
    offset[i] = tap % axes[i].kernel * axes[i].dilation - axes[i].pad;
    tap /= axes[i].kernel;
  }
  while (n > 0) {
    const int64_t count = std::min(n, inner.dense - at.back());
    const uint8_t* line = plane;
    bool inside = true;
    int64_t row = 0;
    for (size_t i = 0; i + 1 < axes.size(); ++i) {
      const int64_t position = at[i] * axes[i].stride + offset[i];
      inside = inside && position >= 0 && position < axes[i].strided;
      row = row * axes[i].strided + position;
    }
    if (inside) line += row * inner.strided;
    // Output positions [first, last) of the line fall into the input.
    const int64_t start = offset.back(), stride = inner.stride;
    const int64_t end = at.back() + count;
    int64_t first = start >= 0 ? 0 : (-start + stride - 1) / stride;
    int64_t last = inner.strided > start ? (inner.strided - 1 - start) / stride + 1 : 0;
    first = std::clamp(first, at.back(), end);
    last = inside ? std::clamp(last, first, end) : first;
    std::fill_n(out, first - at.back(), pad);
    uint8_t* to = out + (first - at.back());
    if (stride == 1) {
      if (last > first) std::memcpy(to, line + first + start, static_cast<size_t>(last - first));
    } else {
      for (int64_t j = first; j < last; ++j) *to++ = line[j * stride + start];
    }
    std::fill_n(out + (last - at.back()), end - last, pad);
    out += count;
    n -= count;
    at.back() = 0;
    for (size_t i = axes.size() - 1; i-- > 0;) {
      if (++at[i] < axes[i].dense) break;
      at[i] = 0;
    }
  }
}

class Int8ConvKernel final : public Kernel {
 public:
  Int8ConvKernel(const Int8Conv& form, ConvParams params, const kernels::Int8GemmKernels& gemm)
      : form_(form), params_(std::move(params)), gemm_(gemm) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto state = std::make_shared<Int8ConvState>();
    Int8ConvState& s = *state;
    const Shape& w = context.input_shape(form_.w);
    const Shape& y = context.output_shape(0);
    if (element_count(y) == 0) {
      plan.state = std::move(state);
      return Status::ok();
    }
    TapAxes axes;
    for (const WindowAxis& a : settle_window(params_.window, spatial(context.input_shape(form_.x)),
                                             spatial(y), spatial(w))) {
      axes.push_back({a.out, a.in, a.kernel, a.stride, a.dilation, a.pad_begin});
      s.taps *= a.kernel;
      s.in_size *= a.in;
      s.out_size *= a.out;
    }
    s.axes = merge_plain_axes(axes);
    s.batch = y[0];
    s.groups = params_.group;
    s.channels = w[1];
    s.filters = w[0] / params_.group;
    s.k = s.channels * s.taps;
    s.panels = (s.out_size + gemm_.nr - 1) / gemm_.nr;
    const int64_t panel_bytes = kernels::int8_panel_bytes(s.k, gemm_.nr);
    s.block_panels =
        std::clamp<int64_t>(kBlockBytes / panel_bytes, 1, std::min(kMaxPanels, s.panels));
    s.blocks = (s.panels + s.block_panels - 1) / s.block_panels;
    s.a_row_bytes = gemm_.packed_a_bytes(s.k);
    const int64_t block_columns = s.block_panels * gemm_.nr;
    s.rows_offset = aligned(w[0] * s.a_row_bytes);
    s.zeros_offset = s.rows_offset + aligned(w[0] * int64_t{sizeof(Int8Row)});
    plan.scratch_bytes = s.zeros_offset + block_columns * int64_t{sizeof(int32_t)};
    s.lines_offset = aligned(s.block_panels * panel_bytes);
    plan.scratch_bytes_per_chunk = s.lines_offset + aligned(4 * block_columns);
    plan.phases = 2;
    plan.split(0, w[0], 0.1 * static_cast<double>(s.k));
    plan.split(1, s.units(),
               int8_gemm_nanoseconds(s.filters, block_columns, s.k) +
                   0.3 * static_cast<double>(block_columns * s.k));
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& s = context.state_as<Int8ConvState>();
    if (context.output(0).size() == 0) return Status::ok();
    if (context.phase == 0) {
      pack_filters(context, s);
      return Status::ok();
    }
    const Range units = context.part(s.units());
    for (int64_t i = units.begin; i < units.end; ++i) {
      const int64_t plane = i / s.blocks;
      convolve(context, s, plane / s.groups, plane % s.groups, i % s.blocks * s.block_panels);
    }
    return Status::ok();
  }

 private:
  void pack_filters(const RunContext& context, const Int8ConvState& s) const {
    const bool is_signed = context.input(form_.w).type == DataType::kInt8;
    auto* rows = reinterpret_cast<Int8Row*>(context.scratch + s.rows_offset);
    const float x_scale = scale_at(context, form_.x_scale, 0);
    const float y_scale = scale_at(context, form_.y_scale, 0);
    const Range filters = context.part(s.groups * s.filters);
    for (int64_t i = filters.begin; i < filters.end; ++i) {
      Int8Row row;
      row.sum = gemm_.pack_a(context.in<uint8_t>(form_.w) + i * s.k, s.k,
                             kernels::flip_of_a(is_signed), context.scratch + i * s.a_row_bytes);
      row.zero = kernels::zero_of_packed_a(zero_at(context, form_.w_zero, i), is_signed);
      if (context.has_input(form_.bias)) row.bias = context.in<int32_t>(form_.bias)[i];
      row.scale = x_scale * scale_at(context, form_.w_scale, i) / y_scale;
      row.out_zero = zero_at(context, form_.y_zero, 0);
      rows[i] = row;
    }
    if (context.chunk != 0) return;
    const int32_t zero = column_zero(context);
    auto* zeros = reinterpret_cast<int32_t*>(context.scratch + s.zeros_offset);
    std::fill_n(zeros, s.block_panels * gemm_.nr, zero);
  }

  bool x_signed(const RunContext& context) const {
    return context.input(form_.x).type == DataType::kInt8;
  }
  int32_t column_zero(const RunContext& context) const {
    return kernels::zero_of_packed_b(zero_at(context, form_.x_zero, 0), x_signed(context));
  }

  void convolve(const RunContext& context, const Int8ConvState& s, int64_t image, int64_t group,
                int64_t first_panel) const {
    const int64_t panels = std::min(s.block_panels, s.panels - first_panel);
    const int64_t pixel = first_panel * gemm_.nr;
    const int64_t columns = std::min(panels * gemm_.nr, s.out_size - pixel);
    gather(context, s, image, group, pixel, columns);
    for (int64_t p = 0; p < panels; ++p) {
      gemm_.sum_columns(s.k, gemm_.nr,
                        context.chunk_scratch + p * kernels::int8_panel_bytes(s.k, gemm_.nr));
    }
    kernels::Int8GemmArgs args;
    args.m = s.filters;
    args.n = columns;
    args.k = s.k;
    args.packed_a = context.scratch + group * s.filters * s.a_row_bytes;
    args.rows =
        reinterpret_cast<const Int8Row*>(context.scratch + s.rows_offset) + group * s.filters;
    args.packed_b = context.chunk_scratch;
    if (column_zero(context) != 0) {
      args.column_zero = reinterpret_cast<const int32_t*>(context.scratch + s.zeros_offset);
    }
    const TensorView& y = context.output(0);
    args.output = y.type == DataType::kInt32  ? kernels::Int8Output::kInt32
                  : y.type == DataType::kInt8 ? kernels::Int8Output::kInt8
                                              : kernels::Int8Output::kUint8;
    const int64_t at = (image * s.groups + group) * s.filters * s.out_size + pixel;
    args.c = y.as<std::byte>() + at * bits_of(y.type) / 8;
    args.ldc = s.out_size;
    gemm_.run(args);
  }

  // The panels of the pixels [pixel, pixel + columns), without their sums.
  void gather(const RunContext& context, const Int8ConvState& s, int64_t image, int64_t group,
              int64_t pixel, int64_t columns) const {
    const uint8_t* x =
        context.in<uint8_t>(form_.x) + (image * s.groups + group) * s.channels * s.in_size;
    const auto pad = static_cast<uint8_t>(zero_at(context, form_.x_zero, 0));
    const uint8_t flip = kernels::flip_of_b(x_signed(context));
    auto* lines = reinterpret_cast<uint8_t*>(context.chunk_scratch + s.lines_offset);
    const int64_t line_bytes = s.block_panels * gemm_.nr;
    const bool plain = s.taps == 1 && s.in_size == s.out_size && s.axes.size() == 1;
    std::byte* group_of_four = context.chunk_scratch + gemm_.nr * 4;
    for (int64_t i = 0; i < s.k; i += 4, group_of_four += gemm_.nr * 4) {
      const uint8_t* rows[4] = {};
      for (int64_t r = 0; r < std::min<int64_t>(4, s.k - i); ++r) {
        const uint8_t* plane = x + (i + r) / s.taps * s.in_size;
        if (plain) {
          rows[r] = plane + pixel;
          continue;
        }
        uint8_t* line = lines + r * line_bytes;
        gather_pixels(s.axes, plane, (i + r) % s.taps, pixel, columns, pad, line);
        rows[r] = line;
      }
      gemm_.pack_b_rows(rows, columns, flip, gemm_.nr, kernels::int8_panel_bytes(s.k, gemm_.nr),
                        group_of_four);
    }
  }

  Int8Conv form_;
  ConvParams params_;
  const kernels::Int8GemmKernels& gemm_;
};

}  // namespace

SymShape infer_int8_conv(InferContext& context, const Int8Conv& form) {
  SymShape y = infer_conv(context, parse_conv(context.node()), form.x, form.w, form.bias);
  const SymShape scalar = Dims();
  for (size_t input : {form.x_scale, form.x_zero, form.y_scale, form.y_zero}) {
    check_parameter(context, input, scalar, 1, 1);
  }
  const SymShape& w = context.input_shape(form.w);
  for (size_t input : {form.w_scale, form.w_zero}) {
    check_parameter(context, input, w ? SymShape(Dims{(*w)[0], Dim(1)}) : w, 2, 1);
  }
  return y;
}

std::unique_ptr<Kernel> int8_conv_kernel(const PrepareContext& context, const Int8Conv& form) {
  return std::make_unique<Int8ConvKernel>(form, parse_conv(context.node),
                                          kernels::int8_gemm_kernels(context.isa));
}

}  // namespace sardonyx
