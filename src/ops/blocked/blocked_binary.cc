// BlockedBinary: activation(A op B) for a blocked A and a B that is blocked, with numpy's broadcast
// over batch and pixels (a squeeze-excite scale [N, C, 1, 1], a constant per channel [1, C, 1, 1]),
// or one plain float. Both have the same channels. `reverse` exchanges the operands of Sub and Div.
#include <fmt/format.h>

#include "kernels/blocked/blocked.h"
#include "ops/blocked/blocked.h"
#include "ops/epilogue.h"
#include "ops/op.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

using kernels::BlockedOperand;

kernels::BlockedBinary parse_op(const Node& node) {
  const std::string op = node.attributes.get_string("op", "");
  const bool reverse = node.attributes.get_int("reverse", 0) != 0;
  if (op == "Add") return kernels::BlockedBinary::kAdd;
  if (op == "Mul") return kernels::BlockedBinary::kMul;
  if (op == "Sub")
    return reverse ? kernels::BlockedBinary::kReverseSub : kernels::BlockedBinary::kSub;
  if (op == "Div")
    return reverse ? kernels::BlockedBinary::kReverseDiv : kernels::BlockedBinary::kDiv;
  throw Error(ErrorCode::kInvalidGraph, fmt::format("{}: op is '{}'", describe(node), op));
}

void infer(InferContext& context) {
  const int64_t channels = parse_channels(context.node());
  check_blocked(context, 0, channels);
  const SymShape &a = context.input_shape(0), &b = context.input_shape(1);
  if (!a || !b) return context.set_output(0, DataType::kFloat, std::nullopt);
  if (b->size() != 5) {
    for (const Dim& dim : *b) {
      if (dim.is_known() && !dim.is(1)) context.fail("a plain operand must be one float");
    }
    return context.same_as_input(0);
  }
  check_blocked(context, 1, channels);
  if ((*a)[4].is_known() && (*b)[4].is_known() && (*a)[4] != (*b)[4]) {
    context.fail("the operands have blocks of different widths");
  }
  const size_t both[] = {0, 1};
  context.set_output(0, DataType::kFloat, context.broadcast_inputs(both));
}

struct State {
  kernels::BlockedBinaryArgs args;
  PlaneGrid grid;  // "rows" are pixels
  bool general = false;
  Shape a, b, out;
};

// Any broadcast over batch and pixels, one pixel at a time: kernels need A to be as large as the
// output, which models with unknown sizes do not promise.
void run_general(const State& s, const kernels::BlockedBinaryArgs& args,
                 const kernels::BlockedRange& range, const kernels::BlockedKernels& kernels) {
  const int64_t blocks = s.out[1], width = s.out[3], c = s.out[4];
  const auto offset = [&](const Shape& shape, int64_t plane, int64_t pixel) {
    const int64_t n = shape[0] == 1 ? 0 : plane / blocks;
    const int64_t y = shape[2] == 1 ? 0 : pixel / width, x = shape[3] == 1 ? 0 : pixel % width;
    return (((n * blocks + plane % blocks) * shape[2] + y) * shape[3] + x) * c;
  };
  kernels::BlockedBinaryArgs one = args;
  one.batch = 1;
  one.pixels = 1;
  one.operand = BlockedOperand::kFull;
  for (int64_t plane = range.plane_begin; plane < range.plane_end; ++plane) {
    const int64_t lanes = std::min(args.channels - plane % blocks * c, c);
    one.channels = lanes;
    for (int64_t pixel = range.pixel_begin; pixel < range.pixel_end; ++pixel) {
      one.a = args.a + offset(s.a, plane, pixel);
      one.b = args.b + offset(s.b, plane, pixel);
      one.output = args.output + offset(s.out, plane, pixel);
      kernels.binary(one, {0, 1, 0, 1});
    }
  }
}

class BlockedBinaryKernel final : public Kernel {
 public:
  BlockedBinaryKernel(kernels::BlockedBinary op, const kernels::Epilogue& epilogue,
                      int64_t channels, const kernels::BlockedKernels& blocked)
      : op_(op), epilogue_(epilogue), channels_(channels), blocked_(blocked) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto state = std::make_shared<State>();
    State& s = *state;
    s.a = context.input_shape(0);
    s.b = context.input_shape(1);
    s.out = context.output_shape(0);
    const BlockedDims y = blocked_dims(s.out);
    s.args.batch = y.batch;
    s.args.channels = channels_;
    s.args.pixels = y.pixels();
    s.args.block = y.block;
    s.args.op = op_;
    s.args.epilogue = epilogue_;
    const bool per_channel = s.b.size() == 5 && s.b[2] == 1 && s.b[3] == 1;
    if (s.b.size() != 5) {
      s.args.operand = BlockedOperand::kScalar;
    } else if (s.a == s.out && s.b == s.out) {
      s.args.operand = BlockedOperand::kFull;
    } else if (s.a == s.out && per_channel && s.b[0] == s.out[0]) {
      s.args.operand = BlockedOperand::kChannel;
    } else if (s.a == s.out && per_channel && s.b[0] == 1) {
      s.args.operand = BlockedOperand::kChannelShared;
    } else {
      s.general = true;
    }
    const double values = static_cast<double>(element_count(s.out));
    s.grid = PlaneGrid(y.planes(), y.pixels(), values * (s.general ? 2.0 : 0.3));
    plan.chunks[0] = s.grid.chunks();
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const State& s = context.state_as<State>();
    kernels::BlockedBinaryArgs args = s.args;
    args.a = context.in<float>(0);
    args.b = context.in<float>(1);
    args.output = context.out<float>(0);
    const kernels::PlaneRange r = s.grid.range(context.chunk);
    const kernels::BlockedRange range{r.plane_begin, r.plane_end, r.row_begin, r.row_end};
    if (s.general) {
      run_general(s, args, range, blocked_);
    } else {
      blocked_.binary(args, range);
    }
    return Status::ok();
  }

 private:
  kernels::BlockedBinary op_;
  kernels::Epilogue epilogue_;
  int64_t channels_;
  const kernels::BlockedKernels& blocked_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<BlockedBinaryKernel>(parse_op(context.node), parse_epilogue(context.node),
                                               parse_channels(context.node),
                                               kernels::blocked_kernels(context.isa));
}

constexpr OpVersion kVersions[] = {
    {1,
     "A: float, B: float -> Y: float | channels: int!, op: string!, reverse: int = 0, "
     "activation: string = '', alpha: float = 0.0, beta: float = 0.0"}};

}  // namespace

extern const OpDef kBlockedBinary = {.domain = kInternalDomain,
                                     .name = "BlockedBinary",
                                     .versions = kVersions,
                                     .in_place = 0b11,
                                     .infer = infer,
                                     .prepare = prepare};

}  // namespace sardonyx
