// Models in files, with and without external data.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/mapped_file.h"
#include "ir/text_parse.h"
#include "ir/text_print.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "onnx/writer_test_util.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

class WriterFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "sardonyx_writer_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ + "/m.onnx";
    model_ = parse_model_text(R"(g (float x, bool c, float[300] d = {2, ...}) => (y) <
      float[400] a = {1, ...}, float[3] small = {1, 2, 3}, string[1] s = {"a"}> {
      y = If(c) <then_branch = t () => (r) <float[500] w = {3, ...}> { r = Op(x, w) }>
    })");
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  void expect_fault(const WriteOptions& options, const char* part) {
    const auto before = files();
    try {
      write_model(*model_, path_, options);
      ADD_FAILURE() << "nothing was thrown, expected: " << part;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "found instead: " << error.what();
    }
    EXPECT_EQ(files(), before);
  }

  std::string folder_, path_;
  std::unique_ptr<Model> model_;
};

TEST_F(WriterFileTest, AFileHoldsWhatMemoryHolds) {
  write_model(*model_, path_);
  EXPECT_EQ(read_file(path_), write_model(*model_));
  EXPECT_EQ(files(), std::vector<std::string>{"m.onnx"});
}

TEST_F(WriterFileTest, LargeInitializersLieInTheDataFile) {
  WriteOptions options;
  options.external_data_file = "weights";
  write_model(*model_, path_, options);
  EXPECT_EQ(files(), (std::vector<std::string>{"m.onnx", "weights"}));
  // Defaults, constants and those of subgraphs, each at a multiple of 4096.
  EXPECT_EQ(fs::file_size(folder_ + "/weights"), 2u * 4096 + 400 * 4);
  EXPECT_LT(fs::file_size(path_), 1500u);
  EXPECT_EQ(print(*read_model(path_)), print(*model_));
}

TEST_F(WriterFileTest, TheThresholdDecides) {
  WriteOptions options;
  options.external_data_file = "weights";
  options.external_threshold_bytes = 501 * 4;
  write_model(*model_, path_, options);
  EXPECT_EQ(files(), std::vector<std::string>{"m.onnx"});
  options.external_threshold_bytes = 0;
  options.alignment = 1;
  write_model(*model_, path_, options);
  EXPECT_EQ(fs::file_size(folder_ + "/weights"), (300u + 400 + 500 + 3) * 4);
  EXPECT_EQ(print(*read_model(path_)), print(*model_));
}

TEST_F(WriterFileTest, SharedBytesAreWrittenOnce) {
  Graph& graph = *model_->graph;
  graph.add_constant("again", value_named(graph, "a").constant);
  WriteOptions options;
  options.external_data_file = "weights";
  options.external_threshold_bytes = 1600;
  options.alignment = 64;
  write_model(*model_, path_, options);
  EXPECT_EQ(fs::file_size(folder_ + "/weights"), 2048u + 1600);  // 500 numbers, padding, 400
  EXPECT_EQ(print(*read_model(path_)), print(*model_));
}

TEST_F(WriterFileTest, TooLargeModelsUseADataFileUnasked) {
  WriteOptions options;
  options.max_model_bytes = 1500;
  write_model(*model_, path_, options);
  EXPECT_EQ(files(), (std::vector<std::string>{"m.onnx", "m.onnx.data"}));
  EXPECT_EQ(print(*read_model(path_)), print(*model_));
  options.max_model_bytes = 50;
  expect_fault(options, "a model file holds at most 50; lower the size");
}

TEST_F(WriterFileTest, FilesAreReplacedWhileTheirWeightsAreInUse) {
  WriteOptions options;
  options.external_data_file = "weights";
  write_model(*model_, path_, options);
  const auto mapped = read_model(path_);
  for (int i = 0; i < 3; ++i) write_model(*mapped, path_, options);
  EXPECT_EQ(print(*read_model(path_)), print(*model_));
  EXPECT_EQ(files(), (std::vector<std::string>{"m.onnx", "weights"}));
}

TEST_F(WriterFileTest, AFaultLeavesEverythingAsItWas) {
  WriteOptions options;
  for (const char* name : {"..", "a/b", "/abs", "a\\b"}) {
    options.external_data_file = name;
    expect_fault(options, "is no name for external data");
  }
  options.external_data_file = "m.onnx";
  expect_fault(options, "both the model and its external data");
  fs::create_directory(folder_ + "/weights");
  options.external_data_file = "weights";
  expect_fault(options, "is a folder");
  fs::create_directory(path_);
  options.external_data_file = "other";
  expect_fault(options, "is a folder");
}

}  // namespace
}  // namespace sardonyx
