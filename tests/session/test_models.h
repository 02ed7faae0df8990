// Models from text, values and expectations about errors, for the tests of sessions.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "ir/text_parse.h"
#include "onnx/writer.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx {

using Strings = std::vector<std::string>;

// The bytes of a model given as text. Large float constants get varied contents instead of the
// repeated number that the text can say.
inline std::vector<std::byte> model_bytes(std::string_view text) {
  const std::unique_ptr<Model> model = parse_model_text(text);
  uint32_t seed = 1;
  for (size_t i = 0; i < model->graph->value_count(); ++i) {
    Tensor& constant = model->graph->value(static_cast<ValueId>(i)).constant;
    if (constant.type() != DataType::kFloat || constant.size() < 64) continue;
    for (int64_t k = 0; k < constant.size(); ++k) {
      seed = seed * 1664525u + 1013904223u;
      constant.data<float>()[k] = static_cast<float>(seed >> 16) / 65536.0f - 0.5f;
    }
  }
  return write_model(*model);
}

// Two products with enough work for several threads; about 1 MB of weights. x: [N, 256].
inline std::vector<std::byte> two_layers() {
  return model_bytes(R"(two_layers (float[N,256] x) => (float[N,256] y)
      <float[256,512] a = {1, ...}, float[512,256] b = {1, ...}> {
    h = MatMul(x, a) r = Relu(h) y = MatMul(r, b) })");
}

inline Value floats(const std::vector<int64_t>& shape, const std::vector<float>& values) {
  return Value::copy_of<float>(values, shape);
}

inline Value wave(const std::vector<int64_t>& shape, float start = 0) {
  Value value = Value::tensor(ElementType::kFloat, shape);
  float next = start;
  for (float& each : value.as<float>()) {
    next += 0.37f;
    if (next > 1) next -= 2;
    each = next;
  }
  return value;
}

template <typename T>
std::vector<T> elements(const Value& value) {
  const auto values = value.as<T>();
  return {values.begin(), values.end()};
}

inline std::vector<float> to_vector(const Value& value) { return elements<float>(value); }

// The message of the Error that `call` throws; fails when it throws none or another code.
template <typename Call>
std::string message_of(ErrorCode code, Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

inline void expect_mentions(const std::string& message, const Strings& words) {
  for (const std::string& word : words) {
    EXPECT_NE(message.find(word), std::string::npos) << "'" << word << "' in: " << message;
  }
}

// A folder that goes with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "sardonyx_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

  void write(const char* name, std::span<const std::byte> bytes) const {
    std::ofstream(path_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace sardonyx
