// Resize and Upsample: parameters of every version, output sizes, and the tables that say which
// input cells make an output cell along one axis. Interpolation is separable, so that a kernel
// needs nothing else. Called by those operators and by the lowering of the CPU provider.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ops/infer.h"
#include "ops/kernel.h"

namespace sardonyx {

enum class ResizeMode : uint8_t { kNearest, kLinear, kCubic };
enum class ResizeCoordinates : uint8_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfHalfPixel,  // version 11 only: (x + 0.5) / scale
  kTfCropAndResize,
};
enum class ResizeRounding : uint8_t {
  kPreferFloor,
  kPreferCeil,
  kFloor,
  kCeil,
  kSimple,  // version 10 does not say: floor, downscaling ceil
};
enum class ResizeAspect : uint8_t { kStretch, kNotLarger, kNotSmaller };

struct ResizeParams {
  ResizeMode mode = ResizeMode::kNearest;
  ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
  ResizeRounding rounding = ResizeRounding::kPreferFloor;
  ResizeAspect aspect = ResizeAspect::kStretch;
  double cubic_a = -0.75;
  double extrapolation = 0.0;
  bool exclude_outside = false;
  bool antialias = false;
  std::optional<std::vector<int64_t>> axes;  // that roi, scales and sizes speak of; absent: all
  std::optional<std::vector<float>> scales;  // of Upsample before version 9
  // Input numbers; -1: none.
  int roi_input = -1, scales_input = -1, sizes_input = -1;
};

// Throws Error(kInvalidGraph) for an unknown mode.
ResizeParams parse_resize(const Node& node);

void infer_resize(InferContext& context);

// One axis under concrete sizes. Equal scales of 1 make an identity.
struct ResizeAxis {
  int64_t in = 1, out = 1;
  double scale = 1.0;  // as given, or out / in
  bool exact = false;  // scale is out / in
  double roi_begin = 0.0, roi_end = 1.0;

  bool is_identity() const {
    return in == out && scale == 1.0 && roi_begin == 0.0 && roi_end == 1.0;
  }
};
// What the inputs say; spans are empty for absent inputs.
struct ResizeInputs {
  std::span<const float> scales;
  std::span<const int64_t> sizes;
  std::vector<double> roi;
};
std::vector<ResizeAxis> settle_resize(const ResizeParams& params, const ResizeInputs& inputs,
                                      const Shape& in, const Shape& out);

// Input coordinate of output cell i.
double resize_coordinate(const ResizeParams& params, const ResizeAxis& axis, int64_t i);

// Nearest: the input cell of each output cell; -1 where tf_crop_and_resize extrapolates.
std::vector<int64_t> nearest_table(const ResizeParams& params, const ResizeAxis& axis);

// Linear and cubic: `taps` input cells and weights for each output cell.
struct ResizeTaps {
  int64_t taps = 0;
  std::vector<int32_t> index;    // [out * taps]
  std::vector<double> weight;    // [out * taps]
  std::vector<uint8_t> outside;  // [out] or empty: the cell is extrapolated
};
ResizeTaps interpolation_table(const ResizeParams& params, const ResizeAxis& axis);

std::unique_ptr<Kernel> prepare_resize(const PrepareContext& context);
// The kernels behind it.
std::unique_ptr<Kernel> prepare_resize_nearest(const PrepareContext& context, ResizeParams params);
std::unique_ptr<Kernel> prepare_resize_interpolate(const PrepareContext& context,
                                                   ResizeParams params);
// Reads the inputs for resolve.
ResizeInputs read_resize_inputs(const ResizeParams& params, const ResolveContext& context);

}  // namespace sardonyx
