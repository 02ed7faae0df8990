#include "ops/blocked/conv_params.h"

#include <fmt/format.h>

#include "ops/epilogue.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

kernels::ConvTile parse_tile(const Node& node) {
  kernels::ConvTile tile;
  tile.block = parse_block(node);
  tile.plain_input = node.attributes.get_int("plain_input", 0) != 0;
  const int64_t panel_blocks = node.attributes.get_int("panel_blocks", 1);
  if (panel_blocks < 1 || panel_blocks > kernels::kMaxPanelBlocks) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: panel_blocks is {}; expected 1 to {}", describe(node),
                            panel_blocks, kernels::kMaxPanelBlocks));
  }
  tile.panel_blocks = static_cast<int>(panel_blocks);
  return tile;
}

int64_t parse_group(const Node& node) {
  const int64_t group = node.attributes.get_int("group", 1);
  if (group < 1) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: group is {}; expected 1 or more", describe(node), group));
  }
  return group;
}

}  // namespace

BlockedConvParams parse_blocked_conv(const Node& node) {
  BlockedConvParams params;
  params.window = parse_window(node);
  params.group = parse_group(node);
  params.channels = parse_channels(node);
  params.filters = node.attributes.get_int("filters", 0);
  params.tile = parse_tile(node);
  params.epilogue = parse_epilogue(node);
  if (params.filters < 1 || params.filters % params.group != 0 ||
      params.channels % params.group != 0) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: {} channels and {} filters do not form {} groups", describe(node),
                            params.channels, params.filters, params.group));
  }
  if (params.window.kernel.size() != 2) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: kernel_shape must have two sizes", describe(node)));
  }
  return params;
}

void infer_blocked_conv(InferContext& context) {
  const BlockedConvParams params = parse_blocked_conv(context.node());
  const SymShape& x = context.input_shape(0);
  if (!x) return context.set_output(0, DataType::kFloat, std::nullopt);
  const Dims& in = *x;
  const bool plain = params.tile.plain_input;
  if (in.size() != (plain ? 4 : 5)) context.fail("input of a wrong rank");
  const int64_t expected =
      plain ? params.channels : kernels::block_count(params.channels, params.tile.block);
  if (in[1].is_known() && !in[1].is(expected)) {
    context.fail(fmt::format("axis 1 of the input is {}; expected {}", in[1].value, expected));
  }
  check_window(context, params.window, 2);
  Dims out = {in[0], kernels::block_count(params.filters, params.tile.block)};
  for (size_t axis = 0; axis < 2; ++axis) {
    out.push_back(
        window_output(context, params.window, axis, in[2 + axis], params.window.kernel[axis]));
  }
  out.push_back(int64_t{params.tile.block});
  context.set_output(0, DataType::kFloat, std::move(out));
}

PackParams parse_pack(const Node& node) {
  return {parse_group(node), parse_tile(node), parse_window(node)};
}

kernels::ConvShape pack_shape(const PackParams& params, const Shape& oihw) {
  kernels::ConvShape shape;
  shape.groups = params.group;
  shape.out_channels = oihw[0];
  shape.in_channels = oihw[1] * params.group;
  shape.window.kernel_h = oihw[2];
  shape.window.kernel_w = oihw[3];
  return shape;
}

}  // namespace sardonyx
