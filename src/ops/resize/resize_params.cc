#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/resize/resize.h"
#include "ops/typed.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

template <typename E>
struct Name {
  std::string_view text;
  E value;
};

constexpr Name<ResizeMode> kModes[] = {
    {"nearest", ResizeMode::kNearest},
    {"linear", ResizeMode::kLinear},
    {"bilinear", ResizeMode::kLinear},  // Upsample 1
    {"cubic", ResizeMode::kCubic},
};
constexpr Name<ResizeCoordinates> kCoordinates[] = {
    {"half_pixel", ResizeCoordinates::kHalfPixel},
    {"half_pixel_symmetric", ResizeCoordinates::kHalfPixelSymmetric},
    {"pytorch_half_pixel", ResizeCoordinates::kPytorchHalfPixel},
    {"align_corners", ResizeCoordinates::kAlignCorners},
    {"asymmetric", ResizeCoordinates::kAsymmetric},
    {"tf_half_pixel_for_nn", ResizeCoordinates::kTfHalfPixel},
    {"tf_crop_and_resize", ResizeCoordinates::kTfCropAndResize},
};
constexpr Name<ResizeRounding> kRoundings[] = {
    {"round_prefer_floor", ResizeRounding::kPreferFloor},
    {"round_prefer_ceil", ResizeRounding::kPreferCeil},
    {"floor", ResizeRounding::kFloor},
    {"ceil", ResizeRounding::kCeil},
};
constexpr Name<ResizeAspect> kAspects[] = {
    {"stretch", ResizeAspect::kStretch},
    {"not_larger", ResizeAspect::kNotLarger},
    {"not_smaller", ResizeAspect::kNotSmaller},
};

template <typename E, size_t N>
E parse_name(const Node& node, const char* attribute, const Name<E> (&names)[N],
             std::string_view fallback) {
  const std::string text = node.attributes.get_string(attribute, fallback);
  std::string known;
  for (const Name<E>& name : names) {
    if (name.text == text) return name.value;
    if (!known.empty()) known += ", ";
    known += name.text;
  }
  throw Error(ErrorCode::kInvalidGraph,
              fmt::format("{}: {} is '{}'; known are {}", describe(node), attribute, text, known));
}

bool is_float_list(DataType type) {
  return type == DataType::kFloat || type == DataType::kDouble || type == DataType::kFloat16 ||
         type == DataType::kBfloat16;
}

// floor(in * scale) as everybody rounds it: a product of floats.
int64_t scaled_size(int64_t in, double roi, float scale) {
  return static_cast<int64_t>(std::floor(static_cast<float>(in) * static_cast<float>(roi) * scale));
}

Dim scaled_dim(DimTable& dims, Dim in, double roi, float scale) {
  if (in.is_known()) return scaled_size(in.value, roi, scale);
  if (roi != 1.0) return Dim::unknown();
  const float inverse = 1.0f / scale;
  constexpr float kLargest = 1 << 20;
  if (scale >= 1 && scale <= kLargest && scale == std::floor(scale)) {
    return dims.mul(in, static_cast<int64_t>(scale));
  }
  // Powers of two are the inverses that are exact.
  if (inverse > 1 && inverse <= kLargest && inverse == std::floor(inverse) &&
      1.0f / inverse == scale && std::exp2(std::floor(std::log2(inverse))) == inverse) {
    return dims.floor_div(in, static_cast<int64_t>(inverse));
  }
  return Dim::unknown();
}

// The scale of keep_aspect_ratio_policy.
double kept_scale(ResizeAspect aspect, std::span<const int64_t> sizes,
                  const SmallVector<int64_t, 8>& in) {
  double scale = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const double own = static_cast<double>(sizes[i]) / static_cast<double>(in[i]);
    if (i == 0) scale = own;
    scale = aspect == ResizeAspect::kNotLarger ? std::min(scale, own) : std::max(scale, own);
  }
  return scale;
}

SmallVector<size_t, 8> resized_axes(const ResizeParams& params, size_t rank) {
  SmallVector<size_t, 8> axes;
  if (!params.axes) {
    for (size_t i = 0; i < rank; ++i) axes.push_back(i);
    return axes;
  }
  for (int64_t axis : *params.axes) {
    axes.push_back(static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis));
  }
  return axes;
}

bool is_empty_list(InferContext& context, int input) {
  if (input < 0 || !context.has_input(static_cast<size_t>(input))) return true;
  const SymShape& shape = context.input_shape(static_cast<size_t>(input));
  return shape && shape->size() == 1 && (*shape)[0].is(0);
}

}  // namespace

ResizeParams parse_resize(const Node& node) {
  ResizeParams params;
  const Attributes& attributes = node.attributes;
  params.mode = parse_name(node, "mode", kModes, "nearest");
  const int version = node.version == 0 ? 19 : node.version;
  if (node.op == "Upsample" || version < 11) {
    params.coordinates = ResizeCoordinates::kAsymmetric;
    params.rounding = node.op == "Upsample" ? ResizeRounding::kFloor : ResizeRounding::kSimple;
    if (attributes.contains("height_scale")) {
      params.scales = std::vector<float>{1.0f, 1.0f, attributes.get_float("height_scale", 1.0f),
                                         attributes.get_float("width_scale", 1.0f)};
    } else if (attributes.contains("scales")) {
      params.scales = attributes.get_floats("scales");
    } else {
      params.scales_input = 1;
    }
    return params;
  }
  params.coordinates =
      parse_name(node, "coordinate_transformation_mode", kCoordinates, "half_pixel");
  params.rounding = parse_name(node, "nearest_mode", kRoundings, "round_prefer_floor");
  params.aspect = parse_name(node, "keep_aspect_ratio_policy", kAspects, "stretch");
  params.cubic_a = static_cast<double>(attributes.get_float("cubic_coeff_a", -0.75f));
  params.extrapolation = static_cast<double>(attributes.get_float("extrapolation_value", 0.0f));
  params.exclude_outside = attributes.get_int("exclude_outside", 0) != 0;
  params.antialias = attributes.get_int("antialias", 0) != 0;
  if (attributes.contains("axes")) params.axes = attributes.get_ints("axes");
  params.roi_input = 1;
  params.scales_input = 2;
  params.sizes_input = 3;
  return params;
}

void infer_resize(InferContext& context) {
  const ResizeParams params = parse_resize(context.node());
  const DataType element = context.input_element(0);
  const SymShape& x = context.input_shape(0);
  if (!x) return context.set_output(0, element, std::nullopt);
  const size_t rank = x->size();
  if (params.axes) {
    for (int64_t axis : *params.axes) context.normalize_axis(axis, rank);
  }
  const SmallVector<size_t, 8> axes = resized_axes(params, rank);
  Dims out = *x;
  for (size_t axis : axes) out[axis] = Dim::unknown();
  const auto check_count = [&](const char* name, size_t count) {
    if (count == axes.size()) return;
    context.fail(fmt::format("{} has {} values for {} axes", name, count, axes.size()));
  };

  const bool has_scales = params.scales || !is_empty_list(context, params.scales_input);
  const bool has_sizes = !is_empty_list(context, params.sizes_input);
  if (!has_scales && !has_sizes) context.fail("neither scales nor sizes are given");
  if (has_sizes) {
    const std::optional<Dims> sizes = context.input_ints(static_cast<size_t>(params.sizes_input));
    if (!sizes) return context.set_output(0, element, std::move(out));
    check_count("sizes", sizes->size());
    if (params.aspect == ResizeAspect::kStretch) {
      for (size_t i = 0; i < axes.size(); ++i) out[axes[i]] = (*sizes)[i];
      return context.set_output(0, element, std::move(out));
    }
    SmallVector<int64_t, 8> wanted, in;
    for (size_t i = 0; i < axes.size(); ++i) {
      const Dim size = (*sizes)[i], own = (*x)[axes[i]];
      if (!size.is_known() || !own.is_known() || own.value == 0) {
        return context.set_output(0, element, std::move(out));
      }
      wanted.push_back(size.value);
      in.push_back(own.value);
    }
    const double scale = kept_scale(params.aspect, wanted, in);
    for (size_t i = 0; i < axes.size(); ++i) {
      out[axes[i]] = static_cast<int64_t>(std::floor(scale * static_cast<double>(in[i]) + 0.5));
    }
    return context.set_output(0, element, std::move(out));
  }

  SmallVector<float, 8> scales;
  if (params.scales) {
    scales.assign(params.scales->begin(), params.scales->end());
  } else {
    const auto values = context.input_floats(static_cast<size_t>(params.scales_input));
    if (!values) return context.set_output(0, element, std::move(out));
    for (double value : *values) scales.push_back(static_cast<float>(value));
  }
  check_count("scales", scales.size());
  std::optional<SmallVector<double, 8>> roi;
  const bool crops = params.coordinates == ResizeCoordinates::kTfCropAndResize;
  if (crops) {
    roi = context.input_floats(static_cast<size_t>(params.roi_input));
    if (!roi) return context.set_output(0, element, std::move(out));
    check_count("half of roi", roi->size() / 2);
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!(scales[i] > 0)) context.fail(fmt::format("scale {} is not above 0", scales[i]));
    const double part = crops ? (*roi)[axes.size() + i] - (*roi)[i] : 1.0;
    out[axes[i]] = scaled_dim(context.dims(), (*x)[axes[i]], part, scales[i]);
  }
  context.set_output(0, element, std::move(out));
}

std::vector<ResizeAxis> settle_resize(const ResizeParams& params, const ResizeInputs& inputs,
                                      const Shape& in, const Shape& out) {
  std::vector<ResizeAxis> result(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    result[i].in = in[i];
    result[i].out = out[i];
    result[i].scale = in[i] == 0 ? 1.0 : static_cast<double>(out[i]) / static_cast<double>(in[i]);
    result[i].exact = true;
  }
  const SmallVector<size_t, 8> axes = resized_axes(params, in.size());
  const std::span<const float> scales =
      params.scales ? std::span<const float>(*params.scales) : inputs.scales;
  double kept = 0;
  if (!inputs.sizes.empty() && params.aspect != ResizeAspect::kStretch) {
    SmallVector<int64_t, 8> own;
    for (size_t axis : axes) own.push_back(in[axis]);
    kept = kept_scale(params.aspect, inputs.sizes, own);
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = result[axes[i]];
    if (inputs.sizes.empty() && i < scales.size()) {
      axis.scale = static_cast<double>(scales[i]);
      axis.exact = false;
    } else if (kept != 0) {
      axis.scale = kept;
      axis.exact = false;
    }
    if (params.coordinates == ResizeCoordinates::kTfCropAndResize &&
        inputs.roi.size() == 2 * axes.size()) {
      axis.roi_begin = inputs.roi[i];
      axis.roi_end = inputs.roi[axes.size() + i];
    }
  }
  return result;
}

ResizeInputs read_resize_inputs(const ResizeParams& params, const ResolveContext& context) {
  ResizeInputs inputs;
  const auto view = [&](int input) -> const TensorView* {
    if (input < 0 || !context.has_input(static_cast<size_t>(input))) return nullptr;
    const TensorView& values = context.input_values(static_cast<size_t>(input));
    return values.size() == 0 || values.data == nullptr ? nullptr : &values;
  };
  if (const TensorView* scales = view(params.scales_input)) {
    inputs.scales = {scales->as<float>(), static_cast<size_t>(scales->size())};
  }
  if (const TensorView* sizes = view(params.sizes_input)) {
    inputs.sizes = {sizes->as<int64_t>(), static_cast<size_t>(sizes->size())};
  }
  const TensorView* roi = view(params.roi_input);
  if (roi != nullptr && is_float_list(roi->type)) {
    visit_floats(roi->type, [&](auto tag) {
      const auto* data = roi->as<typename decltype(tag)::Type>();
      for (int64_t i = 0; i < roi->size(); ++i) {
        inputs.roi.push_back(static_cast<double>(data[i]));
      }
    });
  }
  return inputs;
}

}  // namespace sardonyx
