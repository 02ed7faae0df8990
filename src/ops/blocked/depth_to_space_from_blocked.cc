// DepthToSpaceFromBlocked: channels of a blocked value become pixels of a plain one: channel
// (f * blocks_h + a) * blocks_w + b of pixel (y, x) is element (y * blocks_h + a, x * blocks_w + b)
// of channel f. The end of a transposed convolution whose kernel equals its stride.
#include <fmt/format.h>

#include "ops/blocked/blocked.h"
#include "ops/op.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

struct Params {
  int64_t channels = 0, height = 1, width = 1;
  int64_t filters() const { return channels / (height * width); }
};

Params parse(const Node& node) {
  Params params{parse_channels(node), node.attributes.get_int("blocks_h", 0),
                node.attributes.get_int("blocks_w", 0)};
  if (params.height < 1 || params.width < 1 || params.height > 1024 || params.width > 1024 ||
      params.channels % (params.height * params.width) != 0) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: {} channels do not form {} x {} pixels", describe(node),
                            params.channels, params.height, params.width));
  }
  return params;
}

void infer(InferContext& context) {
  const Params params = parse(context.node());
  check_blocked(context, 0, params.channels);
  const SymShape& x = context.input_shape(0);
  if (!x) return context.set_output(0, DataType::kFloat, std::nullopt);
  const Dims& in = *x;
  context.set_output(0, DataType::kFloat,
                     Dims{in[0], params.filters(), context.dims().mul(in[2], params.height),
                          context.dims().mul(in[3], params.width)});
}

struct State {
  BlockedDims in;
  PlaneGrid grid;  // planes of the output, rows of the input
};

class DepthToSpaceKernel final : public Kernel {
 public:
  explicit DepthToSpaceKernel(Params params) : params_(params) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto state = std::make_shared<State>();
    state->in = blocked_dims(context.input_shape(0));
    const double values = static_cast<double>(element_count(context.output_shape(0)));
    state->grid = PlaneGrid(state->in.batch * params_.filters(), state->in.height, values * 0.7);
    plan.chunks[0] = state->grid.chunks();
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const State& s = context.state_as<State>();
    const int64_t c = s.in.block, width = s.in.width, pixels = s.in.pixels();
    const kernels::PlaneRange range = s.grid.range(context.chunk);
    for (int64_t plane = range.plane_begin; plane < range.plane_end; ++plane) {
      const int64_t n = plane / params_.filters(), f = plane % params_.filters();
      for (int64_t y = range.row_begin; y < range.row_end; ++y) {
        for (int64_t a = 0; a < params_.height; ++a) {
          float* row = context.out<float>(0) +
                       ((plane * s.in.height + y) * params_.height + a) * width * params_.width;
          for (int64_t b = 0; b < params_.width; ++b) {
            const int64_t channel = (f * params_.height + a) * params_.width + b;
            const float* in = context.in<float>(0) +
                              ((n * s.in.blocks + channel / c) * pixels + y * width) * c +
                              channel % c;
            for (int64_t x = 0; x < width; ++x) row[x * params_.width + b] = in[x * c];
          }
        }
      }
    }
    return Status::ok();
  }

 private:
  Params params_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<DepthToSpaceKernel>(parse(context.node));
}

constexpr OpVersion kVersions[] = {
    {1, "X: float -> Y: float | channels: int!, blocks_h: int!, blocks_w: int!"}};

}  // namespace

extern const OpDef kDepthToSpaceFromBlocked = {.domain = kInternalDomain,
                                               .name = "DepthToSpaceFromBlocked",
                                               .versions = kVersions,
                                               .traits = kZeroPreserving,
                                               .infer = infer,
                                               .prepare = prepare};

}  // namespace sardonyx
