// ConvTranspose: the gradient of a convolution by its input. Each input element adds a weighted
// window to the output.
#include "ops/conv/conv_transpose.h"

#include <fmt/format.h>

#include "ops/conv/taps.h"
#include "ops/op.h"
#include "ops/widen.h"
#include "sardonyx/error.h"

namespace sardonyx {

ConvTransposeParams parse_conv_transpose(const Node& node) {
  ConvTransposeParams params{parse_window(node), node.attributes.get_int("group", 1), {}, {}};
  const auto read = [&](const char* name, SmallVector<int64_t, 4>& list) {
    for (int64_t value : node.attributes.get_ints(name)) {
      if (value < 0 || value > INT32_MAX) {
        throw Error(ErrorCode::kInvalidGraph,
                    fmt::format("{}: {} holds {}; expected values from 0 to {}", describe(node),
                                name, value, INT32_MAX));
      }
      list.push_back(value);
    }
  };
  read("output_padding", params.output_padding);
  read("output_shape", params.output_shape);
  if (params.group < 1) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: group is {}; expected 1 or more", describe(node), params.group));
  }
  return params;
}

WindowAxes settle_transposed(const ConvTransposeParams& params, std::span<const int64_t> in,
                             std::span<const int64_t> out, std::span<const int64_t> kernel) {
  WindowAxes axes;
  const WindowParams& window = params.window;
  const AutoPad auto_pad = window.auto_pad;
  for (size_t i = 0; i < in.size(); ++i) {
    WindowAxis axis{in[i], out[i], kernel[i], window.stride(i), window.dilation(i), 0, 0};
    const bool same = auto_pad == AutoPad::kSameUpper || auto_pad == AutoPad::kSameLower;
    if (same || !params.output_shape.empty()) {
      // Cells that the output asks for beyond the natural size lie at its end.
      const int64_t natural = axis.stride * (axis.in - 1) + params.extra(i) + axis.extent();
      const int64_t total = std::max<int64_t>(0, natural - axis.out);
      axis.pad_begin = auto_pad == AutoPad::kSameUpper ? total / 2 : total - total / 2;
      axis.pad_end = total - axis.pad_begin;
    } else if (auto_pad == AutoPad::kNotSet) {
      axis.pad_begin = window.pad_begin(i);
      axis.pad_end = window.pad_end(i);
    }
    axes.push_back(axis);
  }
  return axes;
}

namespace {

Dim output_size(InferContext& context, const ConvTransposeParams& params, size_t axis,
                size_t spatial_rank, Dim in, Dim kernel) {
  DimTable& dims = context.dims();
  const WindowParams& window = params.window;
  if (!params.output_shape.empty()) {
    return params.output_shape[params.output_shape.size() - spatial_rank + axis];
  }
  const int64_t stride = window.stride(axis);
  if (window.auto_pad == AutoPad::kSameUpper || window.auto_pad == AutoPad::kSameLower) {
    return dims.mul(in, stride);
  }
  const bool padded = window.auto_pad == AutoPad::kNotSet;
  const int64_t pads = padded ? window.pad_begin(axis) + window.pad_end(axis) : 0;
  const Dim reach = dims.mul(dims.sub(kernel, 1), window.dilation(axis));
  // (in - 1) * stride + extent + extra - pads, written so that `in` stays by itself.
  const Dim size =
      dims.add(dims.add(dims.mul(in, stride), reach), 1 + params.extra(axis) - pads - stride);
  if (size.is_known() && size.value < 0 && !in.is(0)) {
    context.fail(fmt::format("spatial axis {} would have size {}", axis, size.value));
  }
  return size.is_known() && size.value < 0 ? Dim(0) : size;
}

void infer(InferContext& context) {
  ConvTransposeParams params = parse_conv_transpose(context.node());
  const SymShape& x = context.input_shape(0);
  const SymShape& w = context.input_shape(1);
  const DataType element = context.input_element(0);
  if (!x && !w) return context.set_output(0, element, std::nullopt);
  const size_t rank = x ? x->size() : w->size();
  if (rank < 3) context.fail(fmt::format("input of rank {}; expected 3 or more", rank));
  if (w && w->size() != rank) {
    context.fail(fmt::format("weight of rank {} for an input of rank {}", w->size(), rank));
  }
  const size_t spatial_rank = rank - 2;
  check_window(context, params.window, spatial_rank);
  const auto check = [&](const char* name, size_t size) {
    if (size == 0 || size == spatial_rank) return;
    context.fail(
        fmt::format("attribute {} has {} values for {} spatial axes", name, size, spatial_rank));
  };
  check("output_padding", params.output_padding.size());
  // Some files give the batch and channels as well.
  if (params.output_shape.size() != rank) check("output_shape", params.output_shape.size());
  if (x && w && (*x)[1].is_known() && (*w)[0].is_known() && (*x)[1] != (*w)[0]) {
    context.fail(
        fmt::format("{} input channels; the weight needs {}", (*x)[1].value, (*w)[0].value));
  }
  if (w && (*w)[0].is_known() && (*w)[0].value % params.group != 0) {
    context.fail(fmt::format("{} input channels cannot be split into {} groups", (*w)[0].value,
                             params.group));
  }
  Dims out = {x ? (*x)[0] : Dim::unknown(),
              w ? context.dims().mul((*w)[1], params.group) : Dim::unknown()};
  if (const SymShape bias = context.has_input(2) ? context.input_shape(2) : std::nullopt) {
    const bool fits =
        bias->size() == 1 && (!(*bias)[0].is_known() || !out[1].is_known() || (*bias)[0] == out[1]);
    if (!fits) context.fail("the bias must have one value for each filter");
  }
  for (size_t i = 0; i < spatial_rank; ++i) {
    const Dim weight_size = w ? (*w)[i + 2] : Dim::unknown();
    const bool given = !params.window.kernel.empty();
    if (given && weight_size.is_known() && !weight_size.is(params.window.kernel[i])) {
      context.fail(fmt::format("kernel_shape says {} on spatial axis {}, the weight has {}",
                               params.window.kernel[i], i, weight_size.value));
    }
    out.push_back(output_size(context, params, i, spatial_rank, x ? (*x)[i + 2] : Dim::unknown(),
                              given ? Dim(params.window.kernel[i]) : weight_size));
  }
  context.set_output(0, element, std::move(out));
}

struct State {
  TapAxes axes;
  int64_t group_filters = 0;   // output channels of a group
  int64_t group_channels = 0;  // input channels of a group
  int64_t groups = 1;
  int64_t planes = 0;  // batch * output channels
  int64_t taps = 1, in_size = 1, out_size = 1;
};

template <typename T>
class ConvTransposeKernel final : public Kernel {
 public:
  explicit ConvTransposeKernel(ConvTransposeParams params) : params_(std::move(params)) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& w = context.input_shape(1);
    auto state = std::make_shared<State>();
    TapAxes axes;
    for (const WindowAxis& a : settle_transposed(params_, spatial(context.input_shape(0)),
                                                 spatial(context.output_shape(0)), spatial(w))) {
      axes.push_back({a.in, a.out, a.kernel, a.stride, a.dilation, a.pad_begin});
      state->taps *= a.kernel;
      state->in_size *= a.in;
      state->out_size *= a.out;
    }
    state->axes = merge_plain_axes(axes);
    state->groups = params_.group;
    state->group_channels = w[0] / params_.group;
    state->group_filters = w[1];
    state->planes = context.output_shape(0)[0] * w[1] * params_.group;
    plan.split(state->planes,
               0.5 * static_cast<double>(state->group_channels * state->taps * state->in_size));
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& s = context.state_as<State>();
    const T* x = context.in<T>(0);
    const T* w = context.in<T>(1);
    const T* bias = context.has_input(2) ? context.in<T>(2) : nullptr;
    const int64_t filters = s.group_filters * s.groups;
    const Range planes = context.part(s.planes);
    for (int64_t plane = planes.begin; plane < planes.end; ++plane) {
      const int64_t filter = plane % filters;
      const int64_t group = filter / s.group_filters;
      const T* in = x + (plane / filters * s.groups + group) * s.group_channels * s.in_size;
      T* out = context.out<T>(0) + plane * s.out_size;
      std::fill_n(out, s.out_size, bias ? bias[filter] : T(0));
      for (int64_t c = 0; c < s.group_channels; ++c, in += s.in_size) {
        // The weight is [channels, filters of a group, taps].
        const int64_t channel = group * s.group_channels + c;
        const T* weights = w + (channel * s.group_filters + filter % s.group_filters) * s.taps;
        for (int64_t tap = 0; tap < s.taps; ++tap) {
          accumulate_tap<T, true>(s.axes, 0, tap, s.taps, weights[tap], in, out);
        }
      }
    }
    return Status::ok();
  }

 private:
  ConvTransposeParams params_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return floating_kernel<ConvTransposeKernel>(context, parse_conv_transpose(context.node));
}

#define CONV_TRANSPOSE_SCHEMA                                                         \
  "X: T, W: T, B: T? -> Y: T | auto_pad: string = 'NOTSET', dilations: ints?, "       \
  "group: int = 1, kernel_shape: ints?, output_padding: ints?, output_shape: ints?, " \
  "pads: ints?, strides: ints? | T: "
constexpr OpVersion kVersions[] = {
    {1, CONV_TRANSPOSE_SCHEMA "@ieee"},
    {11, CONV_TRANSPOSE_SCHEMA "@ieee"},
    {22, CONV_TRANSPOSE_SCHEMA "@float"},
};
#undef CONV_TRANSPOSE_SCHEMA

}  // namespace

extern const OpDef kConvTranspose = {.domain = "",
                                     .name = "ConvTranspose",
                                     .versions = kVersions,
                                     .infer = infer,
                                     .prepare = prepare};

}  // namespace sardonyx
