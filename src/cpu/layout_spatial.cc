// Pools and resizing in blocked form.
#include "cpu/layout.h"
#include "ops/pool/pool.h"
#include "ops/resize/resize.h"
#include "passes/rules/params.h"

namespace sardonyx::cpu {

const char* convert_pool(LayoutPass& pass, NodeId id, const Commit& commit) {
  const Node node = pass.graph().node(id);
  if (!pass.is_blocked(node.input(0))) return "";
  if (node.output(1) != ValueId::kNone) return "Indices";
  if (!commit()) return "";
  const PoolParams params = parse_pool(node);
  Attributes attributes;
  for (const char* name :
       {"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides"}) {
    if (const AttributeValue* value = node.attributes.find(name)) attributes.set(name, *value);
  }
  if (params.count_include_pad) attributes.set("count_include_pad", int64_t{1});
  const bool is_max = node.op == "MaxPool";
  pass.convert(id,
               pass.emit(node, is_max ? "BlockedMaxPool" : "BlockedAveragePool",
                         {pass.blocked(node.input(0))}, std::move(attributes)),
               *pass.channels_of(node.input(0)));
  return nullptr;
}

const char* convert_global_pool(LayoutPass& pass, NodeId id, const Commit& commit) {
  const Node node = pass.graph().node(id);
  if (!pass.is_blocked(node.input(0))) return "";
  if (node.op == "ReduceMean") {
    const auto axes = rules::reduce_axes(pass.graph(), node);
    if (!axes || *axes != std::vector<int64_t>{2, 3} ||
        node.attributes.get_int("keepdims", 1) == 0) {
      return "axes";
    }
  }
  if (!commit()) return "";
  pass.convert(id, pass.emit(node, "BlockedGlobalAveragePool", {pass.blocked(node.input(0))}, {}),
               *pass.channels_of(node.input(0)));
  return nullptr;
}

namespace {

// The two spatial factors, from an attribute or a constant input.
const char* read_scales(const Graph& graph, const Node& node, const ResizeParams& params,
                        std::vector<float>& scales) {
  std::vector<float> all;
  if (params.scales) {
    all = *params.scales;
  } else if (params.scales_input >= 0) {
    const ValueId input = node.input(static_cast<size_t>(params.scales_input));
    if (input == ValueId::kNone) return nullptr;
    const Tensor& tensor = graph.value(input).constant;
    if (!tensor.is_defined() || tensor.type() != DataType::kFloat) return "computed scales";
    all.assign(tensor.values<float>().begin(), tensor.values<float>().end());
  }
  if (all.empty()) return nullptr;
  if (all.size() != 4 || all[0] != 1.0f || all[1] != 1.0f) return "scales";
  scales.assign(all.begin() + 2, all.end());
  return nullptr;
}

const char* read_sizes(const Graph& graph, const Node& node, const ResizeParams& params,
                       std::vector<int64_t>& sizes) {
  if (params.sizes_input < 0) return nullptr;
  const ValueId input = node.input(static_cast<size_t>(params.sizes_input));
  if (input == ValueId::kNone) return nullptr;
  const Tensor& tensor = graph.value(input).constant;
  const SymShape& x = graph.value(node.input(0)).type.shape;
  if (!tensor.is_defined() || !x) return "computed sizes";
  const auto all = integer_values(tensor);
  if (all.empty()) return nullptr;
  if (all.size() != 4 || !(*x)[0].is(all[0]) || !(*x)[1].is(all[1])) return "sizes";
  sizes.assign(all.begin() + 2, all.end());
  return nullptr;
}

const char* rounding_name(const ResizeParams& params, const std::vector<float>& scales) {
  switch (params.rounding) {
    case ResizeRounding::kPreferFloor:
      return "round_prefer_floor";
    case ResizeRounding::kPreferCeil:
      return "round_prefer_ceil";
    case ResizeRounding::kFloor:
      return "floor";
    case ResizeRounding::kCeil:
      return "ceil";
    case ResizeRounding::kSimple:
      return scales.size() == 2 && scales[0] >= 1 && scales[1] >= 1 ? "floor" : nullptr;
  }
  return nullptr;
}

const char* coordinates_name(ResizeCoordinates coordinates) {
  switch (coordinates) {
    case ResizeCoordinates::kHalfPixel:
      return "half_pixel";
    case ResizeCoordinates::kHalfPixelSymmetric:
      return "half_pixel_symmetric";
    case ResizeCoordinates::kPytorchHalfPixel:
      return "pytorch_half_pixel";
    case ResizeCoordinates::kAlignCorners:
      return "align_corners";
    case ResizeCoordinates::kAsymmetric:
      return "asymmetric";
    case ResizeCoordinates::kTfHalfPixel:
      return "tf_half_pixel_for_nn";
    case ResizeCoordinates::kTfCropAndResize:
      return nullptr;
  }
  return nullptr;
}

}  // namespace

const char* convert_resize(LayoutPass& pass, NodeId id, const Commit& commit) {
  const Node node = pass.graph().node(id);
  if (!pass.is_blocked(node.input(0))) return "";
  const ResizeParams params = parse_resize(node);
  std::vector<float> scales;
  std::vector<int64_t> sizes;
  if (params.axes || params.antialias || params.aspect != ResizeAspect::kStretch ||
      params.mode == ResizeMode::kCubic) {
    return "form of Resize";
  }
  if (const char* reason = read_scales(pass.graph(), node, params, scales)) return reason;
  if (const char* reason = read_sizes(pass.graph(), node, params, sizes)) return reason;
  const char* rounding = rounding_name(params, scales);
  const char* coordinates = coordinates_name(params.coordinates);
  if (scales.size() + sizes.size() != 2 || rounding == nullptr || coordinates == nullptr) {
    return "form of Resize";
  }
  for (float scale : scales) {
    if (!(scale > 0.0f) || !(scale <= 65536.0f)) return "scales";
  }
  if (!commit()) return "";
  Attributes attributes;
  attributes.set("mode", std::string(params.mode == ResizeMode::kNearest ? "nearest" : "linear"));
  attributes.set("nearest_mode", std::string(rounding));
  attributes.set("coordinate_transformation_mode", std::string(coordinates));
  if (params.exclude_outside) attributes.set("exclude_outside", int64_t{1});
  if (!scales.empty()) attributes.set("scales", scales);
  if (!sizes.empty()) attributes.set("sizes", sizes);
  pass.convert(
      id, pass.emit(node, "BlockedResize", {pass.blocked(node.input(0))}, std::move(attributes)),
      *pass.channels_of(node.input(0)));
  return nullptr;
}

}  // namespace sardonyx::cpu
