#include "ops/blocked/reorder.h"

#include "ops/blocked/blocked.h"

namespace sardonyx {
namespace {

struct State {
  kernels::ReorderArgs args;
  PlaneGrid grid;  // "rows" are pixels
};

}  // namespace

Status ReorderKernel::resolve(const ResolveContext& context, StepPlan& plan) const {
  const Shape& in = context.input_shape(0);
  const Shape& out = context.output_shape(0);
  const Shape& blocked = plain_is_input_ ? out : in;
  const BlockedDims dims = blocked_dims(blocked);
  auto state = std::make_shared<State>();
  state->args.batch = dims.batch;
  state->args.channels = (plain_is_input_ ? in : out)[channel_axis_];
  state->args.pixels = dims.pixels();
  state->args.block = block_;
  const double values = static_cast<double>(element_count(blocked));
  state->grid = PlaneGrid(dims.planes(), dims.pixels(), values * 0.25);
  plan.chunks[0] = state->grid.chunks();
  plan.state = std::move(state);
  return Status::ok();
}

Status ReorderKernel::run(const RunContext& context) const {
  const State& state = context.state_as<State>();
  kernels::ReorderArgs args = state.args;
  args.input = context.in<float>(0);
  args.output = context.out<float>(0);
  const kernels::PlaneRange range = state.grid.range(context.chunk);
  function_(args, {range.plane_begin, range.plane_end, range.row_begin, range.row_end});
  return Status::ok();
}

}  // namespace sardonyx
