// BlockedResize: Resize of a blocked value along height and width: the attributes of Resize 19
// (mode nearest or linear, no cropping), and `scales` (two floats) or `sizes` (two ints) in place
// of its inputs.
#include <fmt/format.h>

#include <cmath>

#include "kernels/resize/resize.h"
#include "ops/blocked/blocked.h"
#include "ops/op.h"
#include "ops/resize/resize.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

struct Params {
  ResizeParams resize;
  SmallVector<float, 2> scales;
  SmallVector<int64_t, 2> sizes;
};

Params parse(const Node& node) {
  Node standard;
  standard.op = "Resize";
  standard.version = 19;
  for (const auto& [name, value] : node.attributes) {
    if (name != "scales" && name != "sizes") standard.attributes.set(name, value);
  }
  Params params;
  params.resize = parse_resize(standard);
  for (float scale : node.attributes.get_floats("scales")) params.scales.push_back(scale);
  for (int64_t size : node.attributes.get_ints("sizes")) params.sizes.push_back(size);
  if (params.scales.size() + params.sizes.size() != 2 || params.scales.size() == 1) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: needs two scales or two sizes", describe(node)));
  }
  for (float scale : params.scales) {
    if (!(scale > 0.0f) || !(scale <= 65536.0f)) {
      throw Error(ErrorCode::kInvalidGraph,
                  fmt::format("{}: scale {} lies outside (0, 65536]", describe(node), scale));
    }
  }
  return params;
}

// floor(in * scale); symbolic when the scale is a whole number or one over a power of two.
Dim scaled(DimTable& dims, Dim in, float scale) {
  if (in.is_known()) return static_cast<int64_t>(std::floor(static_cast<float>(in.value) * scale));
  if (scale >= 1.0f && scale == std::floor(scale)) {
    return dims.mul(in, static_cast<int64_t>(scale));
  }
  for (int64_t divisor = 2; divisor <= 64; divisor *= 2) {
    if (scale * static_cast<float>(divisor) == 1.0f) return dims.floor_div(in, divisor);
  }
  return Dim::unknown();
}

void infer(InferContext& context) {
  const Params params = parse(context.node());
  check_blocked(context, 0);
  SymShape shape = context.input_shape(0);
  if (shape) {
    for (size_t axis = 0; axis < 2; ++axis) {
      Dim& dim = (*shape)[2 + axis];
      dim = params.sizes.empty() ? scaled(context.dims(), dim, params.scales[axis])
                                 : Dim(params.sizes[axis]);
    }
  }
  context.set_output(0, DataType::kFloat, std::move(shape));
}

struct Axis {
  std::vector<int32_t> low, high;
  std::vector<float> low_weight, high_weight;

  kernels::LinearAxis view() const {
    return {low.data(), high.data(), low_weight.data(), high_weight.data()};
  }
};

Axis make_axis(const ResizeParams& params, const ResizeAxis& axis) {
  Axis result;
  if (params.mode == ResizeMode::kNearest) {
    for (int64_t cell : nearest_table(params, axis)) {
      result.low.push_back(static_cast<int32_t>(cell));
    }
    return result;
  }
  const ResizeTaps table = interpolation_table(params, axis);
  for (size_t i = 0; i < table.index.size(); i += 2) {
    result.low.push_back(table.index[i]);
    result.high.push_back(table.index[i + 1]);
    result.low_weight.push_back(static_cast<float>(table.weight[i]));
    result.high_weight.push_back(static_cast<float>(table.weight[i + 1]));
  }
  return result;
}

// The factor f when output cell i is input cell i / f, else 0.
int64_t whole_factor(const Axis& axis, const ResizeAxis& sizes) {
  const int64_t factor = sizes.in == 0 ? 0 : sizes.out / sizes.in;
  if (factor == 0 || factor * sizes.in != sizes.out) return 0;
  for (int64_t i = 0; i < sizes.out; ++i) {
    if (axis.low[static_cast<size_t>(i)] != i / factor) return 0;
  }
  return factor;
}

struct State {
  kernels::ResizeShape shape;
  Axis row, column;
  int64_t factor_h = 0, factor_w = 0;
  PlaneGrid grid;
};

class BlockedResizeKernel final : public Kernel {
 public:
  BlockedResizeKernel(Params params, const kernels::ResizeKernels& resize)
      : params_(std::move(params)), resize_(resize) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const BlockedDims x = blocked_dims(context.input_shape(0));
    const BlockedDims y = blocked_dims(context.output_shape(0));
    if (x.pixels() == 0 && y.pixels() != 0) {
      return Status(ErrorCode::kInvalidArgument, "an empty image cannot be resized");
    }
    ResizeParams resize = params_.resize;
    resize.axes = {2, 3};
    if (!params_.scales.empty()) {
      resize.scales = std::vector<float>(params_.scales.begin(), params_.scales.end());
    }
    const std::vector<ResizeAxis> axes =
        settle_resize(resize, {{}, params_.sizes, {}}, {x.batch, x.blocks, x.height, x.width},
                      {y.batch, y.blocks, y.height, y.width});
    auto state = std::make_shared<State>();
    state->shape = {x.planes(), x.height, x.width, y.height, y.width, x.block};
    state->row = make_axis(resize, axes[2]);
    state->column = make_axis(resize, axes[3]);
    const bool linear = resize.mode == ResizeMode::kLinear;
    if (!linear) {
      state->factor_h = whole_factor(state->row, axes[2]);
      state->factor_w = whole_factor(state->column, axes[3]);
    }
    const double values = static_cast<double>(element_count(context.output_shape(0)));
    state->grid = PlaneGrid(x.planes(), y.height, values * (linear ? 0.8 : 0.2));
    plan.chunks[0] = state->grid.chunks();
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const State& s = context.state_as<State>();
    const float* in = context.in<float>(0);
    float* out = context.out<float>(0);
    const kernels::PlaneRange range = s.grid.range(context.chunk);
    if (params_.resize.mode == ResizeMode::kLinear) {
      resize_.linear({s.shape, s.row.view(), s.column.view(), in, out}, range);
    } else if (s.factor_h != 0 && s.factor_w != 0) {
      resize_.upsample({s.shape, s.factor_h, s.factor_w, in, out}, range);
    } else {
      resize_.nearest({s.shape, s.row.low.data(), s.column.low.data(), in, out}, range);
    }
    return Status::ok();
  }

 private:
  Params params_;
  const kernels::ResizeKernels& resize_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  Params params = parse(context.node);
  if (params.resize.mode == ResizeMode::kCubic || params.resize.antialias ||
      params.resize.coordinates == ResizeCoordinates::kTfCropAndResize) {
    context.unsupported("nearest and linear without antialias and cropping");
  }
  return std::make_unique<BlockedResizeKernel>(std::move(params),
                                               kernels::resize_kernels(context.isa));
}

constexpr OpVersion kVersions[] = {
    {1,
     "X: float -> Y: float | mode: string = 'nearest', scales: floats?, sizes: ints?, "
     "coordinate_transformation_mode: string = 'half_pixel', "
     "nearest_mode: string = 'round_prefer_floor', exclude_outside: int = 0, "
     "antialias: int = 0"}};

}  // namespace

extern const OpDef kBlockedResize = {.domain = kInternalDomain,
                                     .name = "BlockedResize",
                                     .versions = kVersions,
                                     .traits = kZeroPreserving,
                                     .infer = infer,
                                     .prepare = prepare};

}  // namespace sardonyx
