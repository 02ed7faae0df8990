// The check of a compiled model's weights: before the first Run, after it in the background, or
// never.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "artifact/artifact.h"
#include "base/mapped_file.h"
#include "sardonyx/compile.h"
#include "tests/session/in_child.h"
#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

using Bytes = std::vector<std::byte>;

// Enough to read for a while: 8 MiB. A Run reads one row of it.
constexpr const char* kTable =
    "m (int64[1] i) => (float[1,1024] y) <float[2048,1024] t = {1, ...}> { y = Gather(t, i) }";

Value row_zero() {
  return Value::copy_of<int64_t>(std::vector<int64_t>{0}, std::vector<int64_t>{1});
}

class Logged {
 public:
  void add(LogLevel level, std::string_view line) {
    const std::lock_guard lock(mutex_);
    if (level == LogLevel::kError) errors_ += line;
  }
  std::string errors() const {
    const std::lock_guard lock(mutex_);
    return errors_;
  }

 private:
  mutable std::mutex mutex_;
  std::string errors_;
};

class WeightsCheck : public ::testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    folder_.write("m.onnx", model_bytes("m (float[N,1024] x) => (float[N,1024] y) "
                                        "<float[1024] w = {3, ...}> { y = Mul(x, w) }"));
    compile(folder_ / "m.onnx");
    options_.threads = 1;
    options_.log = [this](LogLevel level, std::string_view line) { log_.add(level, line); };
  }

  // Turns one bit in the middle of the weights.
  static void damage(Bytes& artifact) {
    for (const artifact::SectionInfo& section : artifact::list_sections(artifact)) {
      if (section.name == "weights") {
        artifact[section.offset + section.size_bytes / 2] ^= std::byte{1};
        return;
      }
    }
    FAIL() << "no weights";
  }
  void damage_file(const char* name) {
    Bytes bytes = read_file((folder_ / name).string());
    damage(bytes);
    folder_.write(name, bytes);
  }

  static void run(const Session& session) { session.run({{"x", wave({1, 1024})}}); }

  // A thread of lowest priority may wait for long where other tests run.
  static WeightsState state_after_check(const Session& session) {
    for (int i = 0; i < 300000 && session.weights_state() == WeightsState::kUnchecked; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return session.weights_state();
  }

  // A compiled model of much to check.
  fs::path table() {
    folder_.write("t.onnx", model_bytes(kTable));
    compile(folder_ / "t.onnx");
    fs::remove(folder_ / "t.onnx");
    return folder_ / "t_ctx.onnx";
  }

  TemporaryFolder folder_;
  Logged log_;
  Options options_;
};

TEST_F(WeightsCheck, IntactWeightsAreSeenAfterTheFirstRun) {
  const Session session(folder_ / "m_ctx.onnx", options_);
  EXPECT_EQ(session.weights_state(), WeightsState::kUnchecked);
  run(session);
  EXPECT_EQ(state_after_check(session), WeightsState::kIntact);
  run(session);
  EXPECT_EQ(session.weights_state(), WeightsState::kIntact);
  EXPECT_EQ(log_.errors(), "");
}

TEST_F(WeightsCheck, DamageIsLoggedAndNeverCrashes) {
  damage_file("m_CPUExecutionProvider.bin");
  for (const char* name : {"m_ctx.onnx", "m_CPUExecutionProvider.bin"}) {
    SCOPED_TRACE(name);
    Logged log;
    options_.log = [&](LogLevel level, std::string_view line) { log.add(level, line); };
    const Session session(folder_ / name, options_);
    run(session);
    EXPECT_EQ(state_after_check(session), WeightsState::kDamaged);
    expect_mentions(log.errors(), {(folder_ / "m_CPUExecutionProvider.bin").string(),
                                   "section weights", "compile the model again", "full"});
    run(session);  // what it gives is wrong, but it gives it
    EXPECT_EQ(session.weights_state(), WeightsState::kDamaged);
  }
}

TEST_F(WeightsCheck, DamageInMemory) {
  Bytes bytes = read_file((folder_ / "m_CPUExecutionProvider.bin").string());
  const Session good(std::span<const std::byte>(bytes), options_);
  damage(bytes);
  const Session bad(std::span<const std::byte>(bytes), options_);
  bytes.clear();
  run(good);
  EXPECT_EQ(state_after_check(good), WeightsState::kIntact);
  run(bad);
  EXPECT_EQ(state_after_check(bad), WeightsState::kDamaged);
  expect_mentions(log_.errors(), {"in memory", "section weights"});
}

TEST_F(WeightsCheck, DamageInsideTheOnnxFile) {
  const Bytes part = read_file((folder_ / "m_CPUExecutionProvider.bin").string());
  CompileOptions compile_options;
  compile_options.embed = true;
  compile(folder_ / "m.onnx", folder_ / "one_ctx.onnx", compile_options);
  Bytes whole = read_file((folder_ / "one_ctx.onnx").string());
  const auto at = std::search(whole.begin(), whole.end(), part.begin(), part.end());
  ASSERT_NE(at, whole.end());
  Bytes bad = part;
  damage(bad);
  std::copy(bad.begin(), bad.end(), at);
  folder_.write("one_ctx.onnx", whole);
  const Session session(folder_ / "one_ctx.onnx", options_);
  run(session);
  EXPECT_EQ(state_after_check(session), WeightsState::kDamaged);
  expect_mentions(log_.errors(), {"section weights"});
}

TEST_F(WeightsCheck, FullRefusesDamageAndOffSeesNone) {
  options_.verify_compiled = VerifyCompiled::kFull;
  EXPECT_EQ(Session(folder_ / "m_ctx.onnx", options_).weights_state(), WeightsState::kIntact);
  EXPECT_EQ(Session(folder_ / "m.onnx", options_).weights_state(), WeightsState::kUnchecked);
  damage_file("m_CPUExecutionProvider.bin");
  expect_mentions(message_of(ErrorCode::kFail, [&] { Session(folder_ / "m_ctx.onnx", options_); }),
                  {"m_CPUExecutionProvider.bin", "section weights", "compile the model again"});
  options_.verify_compiled = VerifyCompiled::kOff;
  const Session session(folder_ / "m_ctx.onnx", options_);
  run(session);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(session.weights_state(), WeightsState::kUnchecked);
  EXPECT_EQ(log_.errors(), "");
}

// A file that took the place of the one in use says nothing about it.
TEST_F(WeightsCheck, AnotherFileByNowIsNoDamage) {
  const fs::path path = folder_ / "m_CPUExecutionProvider.bin";
  const Session replaced(folder_ / "m_ctx.onnx", options_);
  folder_.write("other.onnx", model_bytes("m (float[N,1024] x) => (float[N,1024] y) "
                                          "<float[1024] w = {4, ...}> { y = Sub(x, w) }"));
  compile(folder_ / "other.onnx");
  damage_file("other_CPUExecutionProvider.bin");
  fs::rename(folder_ / "other_CPUExecutionProvider.bin", path);
  run(replaced);
  const Session unlinked(path, options_);
  fs::remove(path);
  run(unlinked);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  for (const Session* each : {&replaced, &unlinked}) {
    EXPECT_EQ(each->weights_state(), WeightsState::kUnchecked);
  }
  EXPECT_EQ(log_.errors(), "");
}

// Where a Run does not look the file may even end: the check does not go through the mapping.
TEST_F(WeightsCheck, AFileThatWasCutIsReported) {
  const Session session(table(), options_);
  const fs::path path = folder_ / "t_CPUExecutionProvider.bin";
  fs::resize_file(path, fs::file_size(path) - (size_t{1} << 20));
  session.run({{"i", row_zero()}});
  EXPECT_EQ(state_after_check(session), WeightsState::kDamaged);
  expect_mentions(log_.errors(), {"shorter"});
}

TEST_F(WeightsCheck, ASessionMayGoAtAnyTime) {
  const fs::path path = table();
  { const Session session(path, options_); }
  for (int i = 0; i < 20; ++i) {
    const Session session(path, options_);
    session.run({{"i", row_zero()}});
    if (i % 4 == 1) std::this_thread::sleep_for(std::chrono::microseconds(200 * i));
  }
  Session moved(path, options_);
  moved.run({{"i", row_zero()}});
  const Session other = std::move(moved);
  EXPECT_EQ(state_after_check(other), WeightsState::kIntact);
}

TEST_F(WeightsCheck, FirstRunsOfManyThreads) {
  const Session session(folder_ / "m_ctx.onnx", options_);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { run(session); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(state_after_check(session), WeightsState::kIntact);
}

TEST_F(WeightsCheck, AChildChecksForItself) {
  auto session = std::make_unique<Session>(table(), options_);
  session->run({{"i", row_zero()}});
  const auto runs_and_checks = [&] {
    session->run({{"i", row_zero()}});
    const bool is_intact = state_after_check(*session) == WeightsState::kIntact;
    session.reset();
    return is_intact ? 7 : 1;
  };
  EXPECT_EQ(in_child(runs_and_checks, 400), 7);
  EXPECT_EQ(state_after_check(*session), WeightsState::kIntact);
}

TEST_F(WeightsCheck, TheProcessEndsInTheMiddle) {
  const fs::path path = table();
  EXPECT_EXIT(
      {
        static std::unique_ptr<Session> session = std::make_unique<Session>(path, options_);
        session->run({{"i", row_zero()}});
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "");
  EXPECT_EXIT(
      {
        static Session* session = std::make_unique<Session>(path, options_).release();
        session->run({{"i", row_zero()}});
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace sardonyx
