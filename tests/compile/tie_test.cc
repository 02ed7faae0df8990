// The ONNX file of a compiled model and its compiled part belong together: another part in its
// place is refused by sessions and verdicts, whoever put it there.
#include <gtest/gtest.h>
#include <atomic>

#include <thread>

#include "base/mapped_file.h"
#include "base/staged_file.h"
#include "onnx/ep_context.h"
#include "onnx/reader.h"
#include "sardonyx/compile.h"
#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

using Bytes = std::vector<std::byte>;

constexpr const char* kPart = "m_CPUExecutionProvider.bin";

class TiedFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("m.onnx", source("Mul"));
    folder_.write("other.onnx", source("Add"));
    compile(folder_ / "m.onnx");
    compile(folder_ / "other.onnx");
  }

  static Bytes source(const std::string& op) {
    return model_bytes("m (float[N,2] x) => (float[N,2] y) <float[2] w = {3, 4}> { y = " + op +
                       "(x, w) }");
  }

  Bytes read(const char* name) const { return read_file((folder_ / name).string()); }

  Options beside() const {
    Options options;
    options.external_data_folder = (folder_ / "m.onnx").parent_path();
    return options;
  }

  static std::vector<float> result_of(const Session& session) {
    return to_vector(session.run(std::vector<Value>{floats({1, 2}, {1, 2})})[0]);
  }

  // The file is refused by path and from memory, and the verdict says the same.
  void expect_refused(const char* name, ErrorCode code, const Strings& words) {
    const Bytes bytes = read(name);
    const std::string by_path = message_of(code, [&] { Session(folder_ / name); });
    expect_mentions(by_path, words);
    expect_mentions(message_of(code, [&] { Session(std::span(bytes), beside()); }), {words.back()});
    const Verdict verdict = check_compatibility(folder_ / name);
    EXPECT_EQ(verdict.compatibility, Compatibility::kUnsupported);
    EXPECT_EQ(verdict.facet, "container");
    expect_mentions(verdict.reason, words);
  }

  // Writes the wrapper anew, as a tool would, after `change`.
  void rewrite(const char* name, const std::function<void(Node&)>& change) const {
    const std::unique_ptr<Model> model = read_model((folder_ / name).string());
    change(model->graph->node(model->graph->order()[0]));
    write_model(*model, (folder_ / name).string());
  }

  TemporaryFolder folder_;
};

TEST_F(TiedFiles, BelongTogether) {
  EXPECT_EQ(result_of(Session(folder_ / "m_ctx.onnx")), (std::vector<float>{3, 8}));
  EXPECT_EQ(result_of(Session(folder_ / "other_ctx.onnx")), (std::vector<float>{4, 6}));
  EXPECT_EQ(check_compatibility(folder_ / "m_ctx.onnx").compatibility, Compatibility::kOptimal);
}

TEST_F(TiedFiles, AnotherPartUnderTheRightNameIsRefused) {
  fs::rename(folder_ / "other_CPUExecutionProvider.bin", folder_ / kPart);
  expect_refused("m_ctx.onnx", ErrorCode::kFail,
                 {"m_ctx.onnx'", kPart, "--overwrite", "do not belong together"});
  EXPECT_EQ(result_of(Session(folder_ / kPart)), (std::vector<float>{4, 6})) << "it works alone";
  EXPECT_EQ(check_compatibility(folder_ / kPart).compatibility, Compatibility::kOptimal);
  CompileOptions options;
  options.overwrite = true;
  compile(folder_ / "m.onnx", {}, options);  // as the message says
  EXPECT_EQ(result_of(Session(folder_ / "m_ctx.onnx")), (std::vector<float>{3, 8}));
}

TEST_F(TiedFiles, PartsOfOneSourceAndTwoCompilesDiffer) {
  CompileOptions options;
  options.overwrite = true;
  options.target = "baseline";
  const Bytes old = read(kPart);
  compile(folder_ / "m.onnx", {}, options);
  EXPECT_NO_THROW(Session(folder_ / "m_ctx.onnx"));
  const Bytes baseline = read(kPart);
  folder_.write(kPart, old);
  ASSERT_NE(old, baseline);
  expect_refused("m_ctx.onnx", ErrorCode::kFail, {"do not belong together"});
}

TEST_F(TiedFiles, APartInsideIsTiedToo) {
  CompileOptions options;
  options.embed = true;
  options.overwrite = true;
  compile(folder_ / "m.onnx", {}, options);
  const Bytes other = read("other_CPUExecutionProvider.bin");
  rewrite("m_ctx.onnx", [&](Node& node) {
    node.attributes.set("ep_cache_context",
                        std::string(reinterpret_cast<const char*>(other.data()), other.size()));
  });
  expect_refused("m_ctx.onnx", ErrorCode::kFail,
                 {"m_ctx.onnx'", "inside it", "do not belong together"});
  const Bytes bytes = read("m_ctx.onnx");
  EXPECT_EQ(check_compatibility(std::span<const std::byte>(bytes)).facet, "container");
}

// Tools may drop what they do not know. A part inside the file cannot be another's.
TEST_F(TiedFiles, ANodeThatNamesNoPartIsRefusedUnlessItHoldsIt) {
  for (const bool dropped : {true, false}) {
    rewrite("m_ctx.onnx", [&](Node& node) {
      EXPECT_NE(node.attributes.get_string("notes", ""), "");
      if (dropped) {
        node.attributes.erase("notes");
      } else {
        node.attributes.set("notes", std::string("mine"));
      }
    });
    expect_refused("m_ctx.onnx", ErrorCode::kFail, {"without saying", "do not belong together"});
    CompileOptions options;
    options.embed = true;
    options.overwrite = true;
    compile(folder_ / "m.onnx", {}, options);
    rewrite("m_ctx.onnx", [&](Node& node) { node.attributes.erase("notes"); });
    EXPECT_EQ(result_of(Session(folder_ / "m_ctx.onnx")), (std::vector<float>{3, 8}));
    EXPECT_EQ(check_compatibility(folder_ / "m_ctx.onnx").compatibility, Compatibility::kOptimal);
    options.embed = false;
    compile(folder_ / "m.onnx", {}, options);
  }
}

TEST_F(TiedFiles, VerdictsSeeAPartThatIsMissingCutOrDamaged) {
  const Bytes good = read(kPart);
  struct Row {
    const char* name;
    std::function<void(const fs::path&)> change;
    ErrorCode code;
    const char* words;
  };
  const auto cut_to = [&](size_t size) {
    return [&, size](const fs::path& path) { fs::resize_file(path, size); };
  };
  const auto flip = [&](size_t at) {
    return [&, at](const fs::path& path) {
      Bytes bad = good;
      bad[at] ^= std::byte{4};
      write_file(path.string(), bad);
    };
  };
  const Row rows[] = {
      {"missing", [](const fs::path& path) { fs::remove(path); }, ErrorCode::kNoSuchFile,
       "the file belongs beside the model"},
      {"empty", cut_to(0), ErrorCode::kInvalidGraph, "no compiled model"},
      {"cut in the head", cut_to(100), ErrorCode::kFail, "damaged"},
      {"cut in a section", cut_to(good.size() - 1), ErrorCode::kFail, "the file has"},
      {"too long", cut_to(good.size() + 1), ErrorCode::kFail, "the file has"},
      {"a flipped bit in the head", flip(60), ErrorCode::kFail, "hash"},
      {"a flipped bit in its hash", flip(33), ErrorCode::kFail, "hash"},
      {"another format", flip(8), ErrorCode::kFail, "format 5.0"},
      {"a folder",
       [](const fs::path& path) {
         fs::remove(path);
         fs::create_directory(path);
       },
       ErrorCode::kInvalidGraph, "a folder"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    fs::remove_all(folder_ / kPart);
    write_file((folder_ / kPart).string(), good);
    row.change(folder_ / kPart);
    expect_mentions(message_of(row.code, [&] { Session(folder_ / "m_ctx.onnx"); }), {row.words});
    const Verdict verdict = check_compatibility(folder_ / "m_ctx.onnx");
    EXPECT_EQ(verdict.compatibility, Compatibility::kUnsupported);
    EXPECT_EQ(verdict.facet,
              std::string_view(row.name) == "another format" ? "format" : "container");
    expect_mentions(verdict.reason, {row.words});
  }
  // Bytes in memory do not say where the file lies: only what they say themselves is judged.
  const Bytes bytes = read("m_ctx.onnx");
  EXPECT_EQ(check_compatibility(std::span<const std::byte>(bytes)).compatibility,
            Compatibility::kOptimal);
}

TEST_F(TiedFiles, AHalfPublishedPairIsRefused) {
  const Bytes old_wrapper = read("m_ctx.onnx");
  folder_.write("m.onnx", source("Sub"));
  CompileOptions options;
  options.overwrite = true;
  compile(folder_ / "m.onnx", {}, options);
  folder_.write("m_ctx.onnx", old_wrapper);  // as if the process had died before
  expect_refused("m_ctx.onnx", ErrorCode::kFail, {"do not belong together"});
}

TEST_F(TiedFiles, TheOldPartComesBackWhenTheOnnxFileCannotBePutInPlace) {
  const Bytes old_wrapper = read("m_ctx.onnx");
  const Bytes old_part = read(kPart);
  folder_.write("m.onnx", source("Sub"));
  CompileOptions options;
  options.overwrite = true;
  options.options.progress = [&](std::string_view stage, double) {
    if (stage != "write" || fs::is_directory(folder_ / "m_ctx.onnx")) return;
    fs::remove(folder_ / "m_ctx.onnx");
    fs::create_directory(folder_ / "m_ctx.onnx");
  };
  expect_mentions(
      message_of(ErrorCode::kInvalidArgument, [&] { compile(folder_ / "m.onnx", {}, options); }),
      {"m_ctx.onnx' is a folder"});
  fs::remove(folder_ / "m_ctx.onnx");
  folder_.write("m_ctx.onnx", old_wrapper);
  EXPECT_EQ(read(kPart), old_part);
  EXPECT_EQ(result_of(Session(folder_ / "m_ctx.onnx")), (std::vector<float>{3, 8}));
}

TEST_F(TiedFiles, TwoCompilesAtATimeLeaveOneOfTheirPairs) {
  for (int round = 0; round < 50; ++round) {
    std::vector<std::thread> threads;
    for (const char* name : {"m.onnx", "other.onnx"}) {
      threads.emplace_back([this, name] {
        CompileOptions options;
        options.overwrite = true;
        compile(folder_ / name, folder_ / "one_ctx.onnx", options);
      });
    }
    for (std::thread& thread : threads) thread.join();
    const std::vector<float> result = result_of(Session(folder_ / "one_ctx.onnx"));
    EXPECT_TRUE(result == (std::vector<float>{3, 8}) || result == (std::vector<float>{4, 6}));
    EXPECT_EQ(check_compatibility(folder_ / "one_ctx.onnx").compatibility, Compatibility::kOptimal);
  }
  const fs::directory_iterator all((folder_ / "m.onnx").parent_path());
  EXPECT_EQ(std::distance(begin(all), end(all)), 8) << "no temporary files are left";
}

TEST_F(TiedFiles, WhoeverLoadsWhileTheyAreReplacedGetsOneOfThePairs) {
  const fs::path model = folder_ / "one_ctx.onnx";
  compile(folder_ / "m.onnx", model);
  std::atomic<bool> done{false};
  std::thread compiles([&] {
    CompileOptions options;
    options.overwrite = true;
    for (int round = 0; round < 50; ++round) {
      compile(folder_ / (round % 2 == 0 ? "other.onnx" : "m.onnx"), model, options);
    }
    done = true;
  });
  while (!done) {
    EXPECT_NO_THROW({
      const std::vector<float> result = result_of(Session(model));
      EXPECT_TRUE(result == (std::vector<float>{3, 8}) || result == (std::vector<float>{4, 6}));
    });
    const Verdict verdict = check_compatibility(model);
    EXPECT_EQ(verdict.compatibility, Compatibility::kOptimal) << verdict.reason;
  }
  compiles.join();
}

TEST_F(TiedFiles, MessagesSayWhatToDo) {
  expect_mentions(message_of(ErrorCode::kInvalidArgument, [&] { compile(folder_ / "m.onnx"); }),
                  {"m_ctx.onnx' exists", "--overwrite"});
  for (const size_t length : {240, 4000}) {  // too long with _CPUExecutionProvider.bin, or without
    const std::string name = std::string(length, 'n') + ".onnx";
    expect_mentions(message_of(ErrorCode::kInvalidArgument,
                               [&] { compile(folder_ / "m.onnx", folder_ / name.c_str()); }),
                    {"File name too long"});
  }
  CompileOptions options;
  options.options.cancel.cancel();
  const std::string message = message_of(ErrorCode::kModelLoadCanceled, [&] {
    compile(folder_ / "m.onnx", folder_ / "new_ctx.onnx", options);
  });
  EXPECT_EQ(message.find("session"), message.npos) << message;
  expect_mentions(message, {"was cancelled"});
}

}  // namespace
}  // namespace sardonyx
