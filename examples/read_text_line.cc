// Reads one line of text from a picture with a PP-OCR recogniser, and says how long each part took.
//
// Usage: read_text_line MODEL.onnx PICTURE.png [--threads N] [--started SECONDS] [--row LABEL]
//
// --started is the time, in seconds since 1970, at which the caller started this process: the time
// up to main() is then shown as library load. --row prints one row of the table of times and
// nothing else.
//
// The model takes float [1, 3, 48, width] and gives [1, columns, classes], the probability of each
// character in each column. Class 0 is the gap between characters (the blank of CTC), then come the
// characters of the model's metadata entry "character", one a line, and a space.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "base/extras.h"
#include "sardonyx/sardonyx.h"

namespace {

constexpr int64_t kHeight = 48;
constexpr int kHotRuns = 50;

struct Arguments {
  std::string model;
  std::string picture;
  int threads = 0;
  double started = 0;
  std::string row;
};

struct TextLine {
  std::string text;
  double confidence = 0;  // mean probability of the characters
};

// Milliseconds that `work` takes.
template <typename Work>
double time_ms(Work&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw sardonyx::Error(sardonyx::ErrorCode::kNoSuchFile, "cannot read " + path);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  return {begin, begin + bytes.size()};
}

// The picture at height 48, its ratio kept, as [1, 3, 48, width] in -1..1 with blue first, which is
// how the model was trained. Bilinear with half-pixel centres.
sardonyx::Value make_input(const sardonyx::RgbImage& image) {
  const int64_t width =
      std::max<int64_t>(1, (image.width * kHeight + image.height / 2) / image.height);
  const int64_t shape[] = {1, 3, kHeight, width};
  sardonyx::Value input = sardonyx::Value::tensor(sardonyx::ElementType::kFloat, shape);
  float* out = input.as<float>().data();
  const auto pixel = [&](int64_t y, int64_t x, int64_t channel) {
    return static_cast<float>(
        image.pixels[static_cast<size_t>((y * image.width + x) * 3 + channel)]);
  };
  const auto source = [](int64_t at, int64_t from, int64_t to) {
    const float centre =
        (static_cast<float>(at) + 0.5f) * static_cast<float>(from) / static_cast<float>(to) - 0.5f;
    return std::clamp(centre, 0.0f, static_cast<float>(from - 1));
  };
  for (int64_t channel = 2; channel >= 0; --channel) {
    for (int64_t y = 0; y < kHeight; ++y) {
      const float fy = source(y, image.height, kHeight);
      const auto y0 = static_cast<int64_t>(fy);
      const int64_t y1 = std::min(y0 + 1, image.height - 1);
      for (int64_t x = 0; x < width; ++x) {
        const float fx = source(x, image.width, width);
        const auto x0 = static_cast<int64_t>(fx);
        const int64_t x1 = std::min(x0 + 1, image.width - 1);
        const float wx = fx - static_cast<float>(x0);
        const float wy = fy - static_cast<float>(y0);
        const float top = pixel(y0, x0, channel) * (1 - wx) + pixel(y0, x1, channel) * wx;
        const float bottom = pixel(y1, x0, channel) * (1 - wx) + pixel(y1, x1, channel) * wx;
        *out++ = ((top * (1 - wy) + bottom * wy) / 255 - 0.5f) / 0.5f;
      }
    }
  }
  return input;
}

// Class number -> character.
std::vector<std::string> characters_of(const sardonyx::Session& session) {
  const auto& custom = session.metadata().custom;
  const auto entry = custom.find("character");
  if (entry == custom.end()) {
    throw sardonyx::Error(sardonyx::ErrorCode::kInvalidArgument,
                          "the model has no metadata entry 'character': not a PP-OCR recogniser");
  }
  std::vector<std::string> characters = {""};
  std::istringstream lines(entry->second);
  for (std::string line; std::getline(lines, line);) characters.push_back(line);
  characters.push_back(" ");
  return characters;
}

// CTC decoding by the best class of each column: repetitions and gaps vanish.
TextLine decode(const sardonyx::Value& scores, const std::vector<std::string>& characters) {
  const std::span<const int64_t> shape = scores.shape();
  if (shape.size() != 3 || shape[2] != static_cast<int64_t>(characters.size())) {
    throw sardonyx::Error(sardonyx::ErrorCode::kInvalidArgument,
                          "the output is not [1, columns, characters]");
  }
  const std::span<const float> all = scores.as<float>();
  TextLine line;
  size_t last = 0;
  int count = 0;
  for (size_t column = 0; column < static_cast<size_t>(shape[1]); ++column) {
    const auto row = all.subspan(column * characters.size(), characters.size());
    const auto best = std::max_element(row.begin(), row.end());
    const auto index = static_cast<size_t>(best - row.begin());
    if (index != 0 && index != last) {
      line.text += characters[index];
      line.confidence += *best;
      ++count;
    }
    last = index;
  }
  if (count > 0) line.confidence /= count;
  return line;
}

double peak_memory_mib() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

void read_text_line(const Arguments& arguments, double load_ms) {
  sardonyx::Options options;
  options.threads = arguments.threads;
  const sardonyx::Value input = make_input(sardonyx::decode_image(read_file(arguments.picture)));

  std::unique_ptr<sardonyx::Session> session;
  const double create_ms =
      time_ms([&] { session = std::make_unique<sardonyx::Session>(arguments.model, options); });
  std::vector<sardonyx::Value> outputs;
  const double first_ms = time_ms([&] { outputs = session->run({&input, 1}); });
  std::vector<double> hot_ms;
  for (int i = 0; i < kHotRuns; ++i) {
    hot_ms.push_back(time_ms([&] { session->run({&input, 1}); }));
  }
  std::sort(hot_ms.begin(), hot_ms.end());

  const TextLine line = decode(outputs.at(0), characters_of(*session));
  if (arguments.row.empty()) {
    std::printf("%s: \"%s\" (confidence %.3f), %d threads\n\n", arguments.picture.c_str(),
                line.text.c_str(), line.confidence, session->threads());
    std::printf("%-14s %10s %10s %10s %10s %10s %10s\n", "ms", "load", "create", "first run",
                "run, p50", "run, p95", "peak MiB");
  }
  std::printf("%-14s %10.2f %10.2f %10.2f %10.2f %10.2f %10.1f\n",
              arguments.row.empty() ? "this model" : arguments.row.c_str(), load_ms, create_ms,
              first_ms, hot_ms[kHotRuns / 2], hot_ms[kHotRuns * 95 / 100], peak_memory_mib());
}

bool parse(int argc, char** argv, Arguments& arguments) {
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.rfind("--", 0) != 0) {
      files.push_back(word);
    } else if (i + 1 < argc && word == "--threads") {
      arguments.threads = std::atoi(argv[++i]);
    } else if (i + 1 < argc && word == "--started") {
      arguments.started = std::atof(argv[++i]);
    } else if (i + 1 < argc && word == "--row") {
      arguments.row = argv[++i];
    } else {
      return false;
    }
  }
  if (files.size() != 2) return false;
  arguments.model = files[0];
  arguments.picture = files[1];
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::fprintf(stderr,
                 "usage: read_text_line MODEL.onnx PICTURE [--threads N] [--started SECONDS] "
                 "[--row LABEL]\n");
    return 2;
  }
  try {
    const bool is_known = arguments.started > 0;
    read_text_line(arguments, is_known ? (now.count() - arguments.started) * 1000 : 0);
  } catch (const sardonyx::Error& error) {
    std::fprintf(stderr, "read_text_line: %s: %s\n", to_string(error.code()), error.what());
    return 1;
  }
}
