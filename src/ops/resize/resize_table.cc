#include <algorithm>
#include <cmath>

#include "ops/resize/resize.h"

namespace sardonyx {

double resize_coordinate(const ResizeParams& params, const ResizeAxis& axis, int64_t i) {
  const auto x = static_cast<double>(i);
  const auto in = static_cast<double>(axis.in), out = static_cast<double>(axis.out);
  // The output width before it was rounded to a whole number.
  const double width = axis.exact ? out : axis.scale * in;
  // x / scale, exact when the scale is a ratio of sizes.
  const auto unscale = [&](double value) {
    return axis.exact ? value * in / out : value / axis.scale;
  };
  switch (params.coordinates) {
    case ResizeCoordinates::kHalfPixel:
      return unscale(x + 0.5) - 0.5;
    case ResizeCoordinates::kHalfPixelSymmetric:
      return in / 2 * (1 - out / width) + unscale(x + 0.5) - 0.5;
    case ResizeCoordinates::kPytorchHalfPixel:
      return axis.out > 1 ? unscale(x + 0.5) - 0.5 : 0.0;
    case ResizeCoordinates::kAlignCorners:
      return width == 1 || axis.out == 1 ? 0.0 : x * (in - 1) / (width - 1);
    case ResizeCoordinates::kAsymmetric:
      return unscale(x);
    case ResizeCoordinates::kTfHalfPixel:
      return unscale(x + 0.5);
    case ResizeCoordinates::kTfCropAndResize:
      if (width == 1 || axis.out == 1) {
        return 0.5 * (axis.roi_begin + axis.roi_end) * (in - 1);
      }
      return axis.roi_begin * (in - 1) +
             x * (axis.roi_end - axis.roi_begin) * (in - 1) / (width - 1);
  }
  return 0.0;
}

namespace {

bool is_outside(const ResizeParams& params, const ResizeAxis& axis, double x) {
  return params.coordinates == ResizeCoordinates::kTfCropAndResize &&
         (x < 0 || x > static_cast<double>(axis.in - 1));
}

int64_t round_to_cell(ResizeRounding rounding, bool downscales, double x) {
  const double low = std::floor(x), part = x - low;
  const auto cell = static_cast<int64_t>(low);
  switch (rounding) {
    case ResizeRounding::kPreferFloor:
      return part <= 0.5 ? cell : cell + 1;
    case ResizeRounding::kPreferCeil:
      return part < 0.5 ? cell : cell + 1;
    case ResizeRounding::kFloor:
      return cell;
    case ResizeRounding::kCeil:
      return part == 0 ? cell : cell + 1;
    case ResizeRounding::kSimple:
      return part == 0 || !downscales ? cell : cell + 1;
  }
  return cell;
}

double cubic(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

}  // namespace

std::vector<int64_t> nearest_table(const ResizeParams& params, const ResizeAxis& axis) {
  std::vector<int64_t> table(static_cast<size_t>(axis.out));
  for (int64_t i = 0; i < axis.out; ++i) {
    const double x = resize_coordinate(params, axis, i);
    table[static_cast<size_t>(i)] =
        is_outside(params, axis, x)
            ? -1
            : std::clamp<int64_t>(round_to_cell(params.rounding, axis.scale < 1, x), 0,
                                  axis.in - 1);
  }
  return table;
}

ResizeTaps interpolation_table(const ResizeParams& params, const ResizeAxis& axis) {
  const bool is_cubic = params.mode == ResizeMode::kCubic;
  // Antialiasing stretches the filter by 1 / scale when downscaling.
  const double stretch = params.antialias ? std::min(axis.scale, 1.0) : 1.0;
  const double radius = is_cubic ? 2.0 : 1.0;
  const auto first = static_cast<int64_t>(std::floor(-radius / stretch)) + 1;

  ResizeTaps table;
  table.taps = 2 - 2 * first;
  const size_t size = static_cast<size_t>(axis.out * table.taps);
  table.index.resize(size);
  table.weight.resize(size);
  if (params.coordinates == ResizeCoordinates::kTfCropAndResize) {
    table.outside.resize(static_cast<size_t>(axis.out));
  }
  for (int64_t i = 0; i < axis.out; ++i) {
    const double x = resize_coordinate(params, axis, i);
    if (!table.outside.empty()) table.outside[static_cast<size_t>(i)] = is_outside(params, axis, x);
    // A coordinate on a cell belongs to the interval to its left: part is in (0, 1].
    const double low = std::ceil(x) - 1, part = x - low;
    int32_t* index = table.index.data() + i * table.taps;
    double* weight = table.weight.data() + i * table.taps;
    double sum = 0;
    for (int64_t tap = 0; tap < table.taps; ++tap) {
      const int64_t cell = static_cast<int64_t>(low) + first + tap;
      const double distance = (static_cast<double>(first + tap) - part) * stretch;
      weight[tap] =
          is_cubic ? cubic(distance, params.cubic_a) : std::clamp(1 - std::abs(distance), 0.0, 1.0);
      if (params.exclude_outside && (cell < 0 || cell >= axis.in)) weight[tap] = 0;
      index[tap] = static_cast<int32_t>(std::clamp<int64_t>(cell, 0, axis.in - 1));
      sum += weight[tap];
    }
    if ((params.antialias || params.exclude_outside) && sum != 0) {
      for (int64_t tap = 0; tap < table.taps; ++tap) weight[tap] /= sum;
    }
  }
  return table;
}

}  // namespace sardonyx
