// A model with more weights than a message of protobuf can hold, through external data and back.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/mapped_file.h"
#include "ir/text_parse.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kWeights = 3;
constexpr int64_t kElements = 200'000'000;  // 800 MB each
constexpr int64_t kBytes = kElements * 4;

TEST(LargeModel, ComesBackTheSame) {
  std::string name = (fs::temp_directory_path() / "sardonyx_large_XXXXXX").string();
  const fs::path folder = ::mkdtemp(name.data());
  // The weights lie in a file with holes, so that neither memory nor disk holds their zeros.
  const fs::path source = folder / "source";
  std::ofstream(source).close();
  fs::resize_file(source, kWeights * kBytes);
  {
    std::fstream marks(source, std::ios::binary | std::ios::in | std::ios::out);
    for (int64_t w = 0; w < kWeights; ++w) {
      for (int64_t at : {int64_t{0}, kBytes / 2, kBytes - 4}) {
        const float mark = static_cast<float>(w + 1) + static_cast<float>(at) * 1e-9f;
        marks.seekp(w * kBytes + at);
        marks.write(reinterpret_cast<const char*>(&mark), sizeof mark);
      }
    }
  }
  const auto file = MappedFile::open(source.string());
  const auto model = parse_model_text("g (float[1] x) => (float[1] y) { y = Neg(x) }");
  for (int64_t w = 0; w < kWeights; ++w) {
    model->graph->add_constant(
        "w" + std::to_string(w),
        Tensor::view(DataType::kFloat, {kElements}, file->bytes().data() + w * kBytes, file));
  }
  const std::string path = (folder / "m.onnx").string();
  EXPECT_THROW(write_model(*model), Error) << "no single message can hold it";
  write_model(*model, path);
  EXPECT_LT(fs::file_size(path), 10000u);
  EXPECT_GE(fs::file_size(path + ".data"), static_cast<uint64_t>(kWeights * kBytes));
  const auto again = read_model(path);
  int64_t seen = 0;
  for (size_t i = 0; i < again->graph->value_count(); ++i) {
    const GraphValue& value = again->graph->value(static_cast<ValueId>(i));
    if (!value.is_constant()) continue;
    const int64_t w = value.name[1] - '0';
    ASSERT_EQ(value.constant.size_bytes(), kBytes);
    EXPECT_EQ(std::memcmp(value.constant.raw(), file->bytes().data() + w * kBytes, kBytes), 0);
    ++seen;
  }
  EXPECT_EQ(seen, kWeights);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace sardonyx
