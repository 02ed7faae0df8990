#include "picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "elements.h"
#include "input_file.h"

namespace sardonyx::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

RgbImage read_image(const std::filesystem::path& path) {
  InputFile in(path);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw Error(ErrorCode::kNoSuchFile, fmt::format("cannot read {}", path.string()));
  return decode_image(std::as_bytes(std::span(bytes)));
}

// Where the channels are: 1 or 3.
size_t channel_axis(const std::vector<int64_t>& shape, const std::string& layout) {
  if (layout == "nchw") return 1;
  if (layout == "nhwc") return 3;
  const auto is_channels = [](int64_t dim) { return dim == 1 || dim == 3; };
  return is_channels(shape[3]) && !is_channels(shape[1]) ? 3 : 1;
}

double of_channel(const std::vector<double>& values, int64_t channel, double fallback) {
  if (values.empty()) return fallback;
  return values.size() == 1 ? values[0] : values[static_cast<size_t>(channel)];
}

struct Tap {
  int64_t low, high;
  float weight;  // of high
};

std::vector<Tap> make_taps(int64_t from, int64_t to) {
  std::vector<Tap> taps(static_cast<size_t>(to));
  for (int64_t i = 0; i < to; ++i) {
    const double at =
        (static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
    const double clamped = std::clamp(at, 0.0, static_cast<double>(from - 1));
    const auto low = static_cast<int64_t>(clamped);
    taps[static_cast<size_t>(i)] = {low, std::min(low + 1, from - 1),
                                    static_cast<float>(clamped - static_cast<double>(low))};
  }
  return taps;
}

}  // namespace

void PictureOptions::declare(Verb& verb) {
  verb.number("--scale", scale, "Pictures: factor for pixels of 0..255",
              std::numeric_limits<double>::lowest());
  verb.list("--mean", mean, "Pictures: subtracted after scaling; one number or one per channel");
  verb.list("--std", deviation, "Pictures: divisor after the mean; one number or one per channel");
  verb.choice("--layout", layout, "Pictures: order of dimensions; auto: by the input's shape",
              {"auto", "nchw", "nhwc"});
  verb.flag("--bgr", bgr, "Pictures: blue first; --mean and --std follow that order");
}

std::vector<float> resize_bilinear(const RgbImage& image, int64_t height, int64_t width) {
  const std::vector<Tap> rows = make_taps(image.height, height);
  const std::vector<Tap> columns = make_taps(image.width, width);
  std::vector<float> out;
  out.reserve(static_cast<size_t>(height * width * 3));
  const auto pixel = [&](int64_t y, int64_t x, int64_t c) {
    return static_cast<float>(image.pixels[static_cast<size_t>((y * image.width + x) * 3 + c)]);
  };
  for (const Tap& row : rows) {
    for (const Tap& column : columns) {
      for (int64_t c = 0; c < 3; ++c) {
        const float top =
            std::lerp(pixel(row.low, column.low, c), pixel(row.low, column.high, c), column.weight);
        const float bottom = std::lerp(pixel(row.high, column.low, c),
                                       pixel(row.high, column.high, c), column.weight);
        out.push_back(std::lerp(top, bottom, row.weight));
      }
    }
  }
  return out;
}

Value read_picture(const std::filesystem::path& path, ElementType type,
                   const std::vector<int64_t>& shape, const PictureOptions& options) {
  if (shape.size() != 4) refuse("a picture needs an input of rank 4");
  const RgbImage image = read_image(path);
  const size_t axis = channel_axis(shape, options.layout);
  const size_t first = axis == 1 ? 2 : 1;  // of height; width follows
  const int64_t channels = shape[axis] < 0 ? 3 : shape[axis];
  const int64_t height = shape[first] < 0 ? image.height : shape[first];
  const int64_t width = shape[first + 1] < 0 ? image.width : shape[first + 1];
  if (shape[0] > 1) refuse(fmt::format("one picture does not fill a batch of {}", shape[0]));
  if (channels != 1 && channels != 3) {
    refuse(fmt::format("a picture needs an input with 1 or 3 channels, dimension {} is {}", axis,
                       channels));
  }
  for (const std::vector<double>* values : {&options.mean, &options.deviation}) {
    if (values->size() > 1 && values->size() != static_cast<size_t>(channels)) {
      refuse(fmt::format("--mean and --std want 1 or {} numbers", channels));
    }
  }
  if (height < 1 || width < 1 || height > (1 << 16) || width > (1 << 16)) {
    refuse(fmt::format("a picture cannot be resized to {} x {}", height, width));
  }
  const std::vector<float> pixels = resize_bilinear(image, height, width);
  std::vector<double> elements(static_cast<size_t>(channels * height * width));
  const bool is_raw = type == ElementType::kUint8;
  for (int64_t at = 0; at < height * width; ++at) {
    const float* rgb = &pixels[static_cast<size_t>(at * 3)];
    for (int64_t c = 0; c < channels; ++c) {
      double x = channels == 1 ? 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]
                               : rgb[options.bgr ? 2 - c : c];
      if (is_raw) {
        x = std::nearbyint(x);
      } else {
        x = (x * options.scale - of_channel(options.mean, c, 0)) /
            of_channel(options.deviation, c, 1);
      }
      const int64_t to = axis == 1 ? c * height * width + at : at * channels + c;
      elements[static_cast<size_t>(to)] = x;
    }
  }
  const int64_t nchw[] = {1, channels, height, width};
  const int64_t nhwc[] = {1, height, width, channels};
  Value value = Value::tensor(type, axis == 1 ? nchw : nhwc);
  set_from_doubles(value, elements);
  return value;
}

}  // namespace sardonyx::cli
