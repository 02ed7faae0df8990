// Conv: N-d convolution with groups, strides, dilations and padding. Plain row-major loops; float
// networks run the blocked operators that the CPU provider lowers to.
#include "ops/conv/conv.h"

#include <fmt/format.h>

#include "ops/conv/taps.h"
#include "ops/op.h"
#include "ops/widen.h"
#include "sardonyx/error.h"

namespace sardonyx {

ConvParams parse_conv(const Node& node) {
  ConvParams params{parse_window(node), node.attributes.get_int("group", 1)};
  if (params.group < 1) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: group is {}; expected 1 or more", describe(node), params.group));
  }
  return params;
}

SymShape infer_conv(InferContext& context, const ConvParams& params, size_t input, size_t weight,
                    size_t bias_input) {
  const SymShape& x = context.input_shape(input);
  const SymShape& w = context.input_shape(weight);
  size_t rank = x ? x->size() : w ? w->size() : 0;
  if (rank == 0 && !params.window.kernel.empty()) rank = params.window.kernel.size() + 2;
  if (rank == 0 && !x && !w) return std::nullopt;
  if (rank < 3) context.fail(fmt::format("input of rank {}; expected 3 or more", rank));
  if (w && w->size() != rank) {
    context.fail(fmt::format("weight of rank {} for an input of rank {}", w->size(), rank));
  }
  check_window(context, params.window, rank - 2);

  const Dim channels = x ? (*x)[1] : Dim::unknown();
  const Dim filters = w ? (*w)[0] : Dim::unknown();
  if (w && channels.is_known() && (*w)[1].is_known() &&
      channels.value != (*w)[1].value * params.group) {
    context.fail(fmt::format("{} input channels; weight and group {} need {}", channels.value,
                             params.group, (*w)[1].value * params.group));
  }
  if (filters.is_known() && filters.value % params.group != 0) {
    context.fail(
        fmt::format("{} filters cannot be split into {} groups", filters.value, params.group));
  }
  if (const SymShape bias =
          context.has_input(bias_input) ? context.input_shape(bias_input) : std::nullopt) {
    if (bias->size() != 1 || ((*bias)[0].is_known() && filters.is_known() && (*bias)[0] != filters))
      context.fail("the bias must have one value for each filter");
  }
  Dims out = {x ? (*x)[0] : Dim::unknown(), filters};
  for (size_t i = 0; i + 2 < rank; ++i) {
    const Dim weight_size = w ? (*w)[i + 2] : Dim::unknown();
    const bool given = !params.window.kernel.empty();
    if (given && weight_size.is_known() && !weight_size.is(params.window.kernel[i])) {
      context.fail(fmt::format("kernel_shape says {} on spatial axis {}, the weight has {}",
                               params.window.kernel[i], i, weight_size.value));
    }
    const Dim size = given ? Dim(params.window.kernel[i]) : weight_size;
    out.push_back(window_output(context, params.window, i, x ? (*x)[i + 2] : Dim::unknown(), size));
  }
  return out;
}

namespace {

void infer(InferContext& context) {
  const ConvParams params = parse_conv(context.node());
  context.set_output(0, context.input_element(0), infer_conv(context, params, 0, 1, 2));
}

struct ConvState {
  TapAxes axes;
  int64_t group_filters = 0;   // filters of a group
  int64_t group_channels = 0;  // input channels of a group
  int64_t groups = 1;
  int64_t planes = 0;  // batch * filters
  int64_t taps = 1, in_size = 1, out_size = 1;
};

template <typename T>
class ConvKernel final : public Kernel {
 public:
  explicit ConvKernel(ConvParams params) : params_(std::move(params)) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& w = context.input_shape(1);
    auto state = std::make_shared<ConvState>();
    TapAxes axes;
    for (const WindowAxis& a : settle_window(params_.window, spatial(context.input_shape(0)),
                                             spatial(context.output_shape(0)), spatial(w))) {
      axes.push_back({a.out, a.in, a.kernel, a.stride, a.dilation, a.pad_begin});
      state->taps *= a.kernel;
      state->in_size *= a.in;
      state->out_size *= a.out;
    }
    state->axes = merge_plain_axes(axes);
    state->groups = params_.group;
    state->group_channels = w[1];
    state->group_filters = w[0] / params_.group;
    state->planes = context.output_shape(0)[0] * w[0];
    plan.split(state->planes,
               0.5 * static_cast<double>(state->group_channels * state->taps * state->out_size));
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& s = context.state_as<ConvState>();
    const T* x = context.in<T>(0);
    const T* w = context.in<T>(1);
    const T* bias = context.has_input(2) ? context.in<T>(2) : nullptr;
    const int64_t filters = s.group_filters * s.groups;
    const Range planes = context.part(s.planes);
    for (int64_t plane = planes.begin; plane < planes.end; ++plane) {
      const int64_t filter = plane % filters;
      const int64_t group = filter / s.group_filters;
      const T* in = x + (plane / filters * s.groups + group) * s.group_channels * s.in_size;
      const T* weights = w + filter * s.group_channels * s.taps;
      T* out = context.out<T>(0) + plane * s.out_size;
      std::fill_n(out, s.out_size, bias ? bias[filter] : T(0));
      for (int64_t c = 0; c < s.group_channels; ++c, in += s.in_size, weights += s.taps) {
        for (int64_t tap = 0; tap < s.taps; ++tap) {
          accumulate_tap<T, false>(s.axes, 0, tap, s.taps, weights[tap], out, in);
        }
      }
    }
    return Status::ok();
  }

 private:
  ConvParams params_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return floating_kernel<ConvKernel>(context, parse_conv(context.node));
}

#define CONV_SCHEMA                                                             \
  "X: T, W: T, B: T? -> Y: T | auto_pad: string = 'NOTSET', dilations: ints?, " \
  "group: int = 1, kernel_shape: ints?, pads: ints?, strides: ints? | T: "
constexpr OpVersion kVersions[] = {
    {1, CONV_SCHEMA "@ieee"},
    {11, CONV_SCHEMA "@ieee"},
    {22, CONV_SCHEMA "@float"},
};
#undef CONV_SCHEMA

}  // namespace

extern const OpDef kConv = {
    .domain = "", .name = "Conv", .versions = kVersions, .infer = infer, .prepare = prepare};

}  // namespace sardonyx
