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

kernels::ConvShape kernel_shape(const BlockedConvParams& params) {
  kernels::ConvShape shape;
  shape.in_channels = params.channels;
  shape.out_channels = params.filters;
  shape.groups = params.group;
  shape.window.kernel_h = params.window.kernel[0];
  shape.window.kernel_w = params.window.kernel[1];
  return shape;
}

BlockedConvParams parse_blocked_conv(const Node& node) {
  BlockedConvParams params;
  params.window = parse_window(node);
  params.group = parse_group(node);
  params.channels = parse_channels(node);
  params.filters = node.attributes.get_int("filters", 0);
  params.tile = parse_tile(node);
  params.epilogue = parse_epilogue(node);
  if (params.filters < 1 || params.filters > INT32_MAX || params.filters % params.group != 0 ||
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
  check_conv_input(context, params);
  check_window(context, params.window, 2);
  Dims out = {in[0], kernels::block_count(params.filters, params.tile.block)};
  for (size_t axis = 0; axis < 2; ++axis) {
    out.push_back(
        window_output(context, params.window, axis, in[2 + axis], params.window.kernel[axis]));
  }
  out.push_back(int64_t{params.tile.block});
  check_conv_operands(context, params, out);
  context.set_output(0, DataType::kFloat, std::move(out));
}

void check_conv_input(const InferContext& context, const BlockedConvParams& params) {
  if (!params.tile.plain_input) {
    return check_blocked(context, 0, params.channels, params.tile.block);
  }
  const Dim any = Dim::unknown();
  check_operand(context, 0, Dims{any, params.channels, any, any}, "the input");
}

void check_conv_operands(const InferContext& context, const BlockedConvParams& params,
                         const Dims& output) {
  const int64_t block = params.tile.block;
  const int64_t filters = kernels::block_count(params.filters, block) * block;
  const auto floats = checked_element_count(Shape{
      filters, params.channels / params.group, params.window.kernel[0], params.window.kernel[1]});
  if (!floats) context.fail("the weights have no valid size");
  check_operand(context, 1, Dims{*floats}, "the packed weight");
  check_operand(context, 2, Dims{filters}, "the packed bias");
  check_operand(context, 3, output, "the residual");
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
