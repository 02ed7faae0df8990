// Pictures as model inputs: decode, resize to the input's height and width, scale, subtract the
// mean, divide by the deviation.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/extras.h"
#include "command_line.h"
#include "sardonyx/value.h"

namespace sardonyx::cli {

struct PictureOptions {
  double scale = 1.0 / 255;
  std::vector<double> mean;       // one for all channels, or one each; empty: 0
  std::vector<double> deviation;  // the same; empty: 1
  std::string layout = "auto";    // nchw, nhwc
  bool bgr = false;

  void declare(Verb& verb);
};

// Bilinear with half-pixel centres and clamped edges, no smoothing when it shrinks (as OpenCV's
// INTER_LINEAR, in float). Returns [height, width, 3] in 0..255.
std::vector<float> resize_bilinear(const RgbImage& image, int64_t height, int64_t width);

// `shape`: the input's dimensions, -1 where not fixed: then the picture's own size, one picture.
// Rank 4 with 1 (grey) or 3 channels. element x of channel c: (x * scale - mean[c]) / deviation[c];
// a uint8 input takes the pixels as they are. Throws Error(kNoSuchFile) and
// Error(kInvalidArgument).
Value read_picture(const std::filesystem::path& path, ElementType type,
                   const std::vector<int64_t>& shape, const PictureOptions& options);

}  // namespace sardonyx::cli
