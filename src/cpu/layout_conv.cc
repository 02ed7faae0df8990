// Conv, ConvTranspose and BatchNormalization in blocked form.
#include <cmath>

#include "cpu/layout.h"
#include "kernels/conv/conv.h"
#include "kernels/conv_transpose/conv_transpose.h"
#include "ops/conv/conv.h"
#include "ops/conv/conv_transpose.h"
#include "ops/epilogue.h"

namespace sardonyx::cpu {
namespace {

// A plain input of at most this many channels is read in place: a network's first layer.
constexpr int64_t kMaxPlainChannels = 4;

const Tensor* float_constant(const Graph& graph, ValueId id, size_t rank) {
  if (id == ValueId::kNone) return nullptr;
  const Tensor& tensor = graph.value(id).constant;
  const bool fits = tensor.is_defined() && tensor.type() == DataType::kFloat &&
                    tensor.shape().size() == rank && tensor.size() != 0;
  return fits ? &tensor : nullptr;
}

// Weights, bias, input and residual are what the blocked convolutions take?
const char* check_operands(const LayoutPass& pass, const Node& node) {
  const Graph& graph = pass.graph();
  if (!pass.channels_of(node.input(0))) return "input of unknown shape or another type";
  if (float_constant(graph, node.input(1), 4) == nullptr) return "weights are computed";
  if (node.input(2) != ValueId::kNone && float_constant(graph, node.input(2), 1) == nullptr) {
    return "bias is computed";
  }
  if (node.input(3) != ValueId::kNone && !pass.channels_of(node.input(3))) return "residual";
  return nullptr;
}

void copy(const Node& node, std::initializer_list<const char*> names, Attributes& to) {
  for (const char* name : names) {
    if (const AttributeValue* value = node.attributes.find(name)) to.set(name, *value);
  }
}

// What a pack node and its convolution both carry.
struct Packing {
  int64_t group = 1;
  int64_t panel_blocks = 1;
  bool plain_input = false;

  void write(Attributes& attributes, int64_t block) const {
    attributes.set("block", block);
    attributes.set("group", group);
    attributes.set("panel_blocks", panel_blocks);
    if (plain_input) attributes.set("plain_input", int64_t{1});
  }
};

struct Names {
  std::string_view pack, conv;
};

// Packs the constants and adds the convolution; its blocked output.
ValueId emit_conv(LayoutPass& pass, const Node& node, const Names& names, const Packing& packing,
                  int64_t channels, int64_t filters) {
  const Shape weights = pass.graph().value(node.input(1)).constant.shape();
  Attributes pack;
  packing.write(pack, pass.block());
  if (names.conv == "BlockedConvTranspose") copy(node, {"strides", "dilations", "pads"}, pack);
  const ValueId packed = pass.emit(node, names.pack, {node.input(1)}, std::move(pack));
  ValueId bias = ValueId::kNone;
  if (node.input(2) != ValueId::kNone) {
    Attributes width;
    width.set("block", pass.block());
    bias = pass.emit(node, "PackConvBias", {node.input(2)}, std::move(width));
  }
  const ValueId input = packing.plain_input ? node.input(0) : pass.blocked(node.input(0));
  const ValueId residual =
      node.input(3) == ValueId::kNone ? ValueId::kNone : pass.blocked(node.input(3));
  Attributes attributes;
  copy(
      node,
      {"auto_pad", "strides", "dilations", "pads", "output_padding", "activation", "alpha", "beta"},
      attributes);
  attributes.set("kernel_shape", std::vector<int64_t>{weights[2], weights[3]});
  attributes.set("channels", channels);
  attributes.set("filters", filters);
  packing.write(attributes, pass.block());
  return pass.emit(node, names.conv, {input, packed, bias, residual}, std::move(attributes));
}

// A transposed convolution whose kernel equals its stride makes each output pixel from one input
// pixel: a 1 x 1 convolution with a filter for every filter and kernel position, and a
// rearrangement. Worth it where few filters would leave most lanes of blocked pixels empty and the
// result is wanted plain.
bool is_pixel_shuffle(const LayoutPass& pass, const Node& node, const ConvTransposeParams& params,
                      const Shape& w) {
  if (params.group != 1 || node.input(3) != ValueId::kNone || w[1] * 2 > pass.block() ||
      w[2] * w[3] > 16) {
    return false;
  }
  for (size_t i = 0; i < 2; ++i) {
    if (params.window.stride(i) != w[2 + i] || params.window.dilation(i) != 1 ||
        params.window.pad_begin(i) != 0 || params.window.pad_end(i) != 0 || params.extra(i) != 0) {
      return false;
    }
  }
  return pass.is_used_plain(node.output(0));
}

void emit_pixel_shuffle(LayoutPass& pass, NodeId id) {
  Graph& graph = pass.graph();
  const Node node = graph.node(id);
  const Tensor iohw = graph.value(node.input(1)).constant;
  const Shape& w = iohw.shape();
  const int64_t channels = w[0], filters = w[1] * w[2] * w[3];
  Tensor weights = Tensor::allocate(DataType::kFloat, {filters, channels, 1, 1});
  for (int64_t i = 0; i < channels; ++i) {
    for (int64_t o = 0; o < filters; ++o) {
      weights.data<float>()[o * channels + i] = iohw.data<float>()[i * filters + o];
    }
  }
  ValueId bias = node.input(2);
  if (bias != ValueId::kNone) {
    Tensor repeated = Tensor::allocate(DataType::kFloat, {filters});
    for (int64_t o = 0; o < filters; ++o) {
      repeated.data<float>()[o] = graph.value(bias).constant.data<float>()[o / (w[2] * w[3])];
    }
    bias = graph.add_constant("", std::move(repeated));
  }
  Packing packing;
  packing.panel_blocks = kernels::conv_kernels(pass.target().isa)
                             .panel_blocks(static_cast<int>(pass.block()), filters);
  Node conv = node;
  conv.inputs = {node.input(0), graph.add_constant("", std::move(weights)), bias};
  conv.attributes = {};
  copy(node, {"activation", "alpha", "beta"}, conv.attributes);
  const ValueId pixels =
      emit_conv(pass, conv, {"PackConvWeights", "BlockedConv"}, packing, channels, filters);
  Attributes attributes;
  attributes.set("channels", filters);
  attributes.set("blocks_h", w[2]);
  attributes.set("blocks_w", w[3]);
  pass.replace(id, pass.emit(node, "DepthToSpaceFromBlocked", {pixels}, std::move(attributes)));
}

}  // namespace

const char* convert_conv(LayoutPass& pass, NodeId id, const Commit& commit) {
  const Node node = pass.graph().node(id);
  if (const char* reason = check_operands(pass, node)) return reason;
  const Shape w = pass.graph().value(node.input(1)).constant.shape();
  Packing packing;
  packing.group = parse_conv(node).group;
  const int64_t channels = w[1] * packing.group, filters = w[0];
  if (*pass.channels_of(node.input(0)) != channels) return "channels";
  if (packing.group > 1 && packing.group == channels && filters == channels) {
    if (!commit()) return "";
    pass.convert(id,
                 emit_conv(pass, node, {"PackDepthwiseWeights", "BlockedDepthwiseConv"}, packing,
                           channels, filters),
                 filters);
    return nullptr;
  }
  packing.plain_input =
      packing.group == 1 && channels <= kMaxPlainChannels && !pass.is_blocked(node.input(0));
  const int block = static_cast<int>(pass.block());
  packing.panel_blocks =
      kernels::conv_kernels(pass.target().isa).panel_blocks(block, filters / packing.group);
  kernels::ConvShape shape;
  shape.in_channels = channels;
  shape.out_channels = filters;
  shape.groups = packing.group;
  shape.window.kernel_h = w[2];
  shape.window.kernel_w = w[3];
  if (!kernels::conv_supported(
          shape, {block, static_cast<int>(packing.panel_blocks), packing.plain_input})) {
    return "groups or kernel size";
  }
  if (!commit()) return "";
  pass.convert(
      id, emit_conv(pass, node, {"PackConvWeights", "BlockedConv"}, packing, channels, filters),
      filters);
  return nullptr;
}

const char* convert_conv_transpose(LayoutPass& pass, NodeId id, const Commit& commit) {
  const Node node = pass.graph().node(id);
  if (const char* reason = check_operands(pass, node)) return reason;
  const ConvTransposeParams params = parse_conv_transpose(node);
  const bool is_explicit =
      params.window.auto_pad == AutoPad::kNotSet ||
      (params.window.auto_pad == AutoPad::kValid && params.window.pads.empty());
  if (!is_explicit || !params.output_shape.empty()) return "pads follow from the size";
  const Shape w = pass.graph().value(node.input(1)).constant.shape();
  Packing packing;
  packing.group = params.group;
  const int64_t channels = w[0], filters = w[1] * params.group;
  if (*pass.channels_of(node.input(0)) != channels || channels % params.group != 0) {
    return "channels";
  }
  const int block = static_cast<int>(pass.block());
  packing.panel_blocks = kernels::conv_transpose_kernels(pass.target().isa)
                             .panel_blocks(block, filters / packing.group);
  kernels::ConvShape shape;
  shape.in_channels = channels;
  shape.out_channels = filters;
  shape.groups = packing.group;
  shape.window.kernel_h = w[2];
  shape.window.kernel_w = w[3];
  if (!kernels::conv_transpose_supported(shape,
                                         {block, static_cast<int>(packing.panel_blocks), false})) {
    return "groups or kernel size";
  }
  if (!commit()) return "";
  if (is_pixel_shuffle(pass, node, params, w)) {
    emit_pixel_shuffle(pass, id);
    return nullptr;
  }
  pass.convert(id,
               emit_conv(pass, node, {"PackConvTransposeWeights", "BlockedConvTranspose"}, packing,
                         channels, filters),
               filters);
  return nullptr;
}

// As a depthwise convolution of one pixel: x * (scale / sqrt(var + eps)) + shift.
const char* convert_batch_norm(LayoutPass& pass, NodeId id, const Commit& commit) {
  const Node node = pass.graph().node(id);
  if (!pass.is_blocked(node.input(0))) return "";
  const Tensor* constants[4];
  for (size_t i = 0; i < 4; ++i) {
    constants[i] = float_constant(pass.graph(), node.input(i + 1), 1);
    if (constants[i] == nullptr) return "statistics are computed";
  }
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.output(i) != ValueId::kNone) return "training";
  }
  const int64_t channels = *pass.channels_of(node.input(0));
  if (node.attributes.get_int("training_mode", 0) != 0) return "training";
  for (const Tensor* constant : constants) {
    if (constant->size() != channels) return "channels";
  }
  if (!commit()) return "";
  const float epsilon = node.attributes.get_float("epsilon", 1e-5f);
  Tensor weights = Tensor::allocate(DataType::kFloat, {channels, 1, 1, 1});
  Tensor bias = Tensor::allocate(DataType::kFloat, {channels});
  for (int64_t c = 0; c < channels; ++c) {
    const double scale = constants[0]->data<float>()[c] /
                         std::sqrt(double{constants[3]->data<float>()[c]} + double{epsilon});
    weights.data<float>()[c] = static_cast<float>(scale);
    bias.data<float>()[c] =
        static_cast<float>(constants[1]->data<float>()[c] - scale * constants[2]->data<float>()[c]);
  }
  Attributes width;
  width.set("block", pass.block());
  const ValueId w = pass.emit(node, "PackDepthwiseWeights",
                              {pass.graph().add_constant("", std::move(weights))}, width);
  const ValueId b =
      pass.emit(node, "PackConvBias", {pass.graph().add_constant("", std::move(bias))}, width);
  Attributes attributes = width;
  attributes.set("kernel_shape", std::vector<int64_t>{1, 1});
  attributes.set("channels", channels);
  attributes.set("filters", channels);
  attributes.set("group", channels);
  pass.convert(id,
               pass.emit(node, "BlockedDepthwiseConv", {pass.blocked(node.input(0)), w, b},
                         std::move(attributes)),
               channels);
  return nullptr;
}

}  // namespace sardonyx::cpu
