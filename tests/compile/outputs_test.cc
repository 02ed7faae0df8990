// What compile() replaces and what it does not, and what a process leaves that dies on the way.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <set>

#include "base/mapped_file.h"
#include "sardonyx/compile.h"
#include "tests/session/test_models.h"

namespace {

int g_deadly_rename = 0;  // the process dies when it begins its rename of this number; 0: never
bool g_exchange = true;   // whether the file system can

void count_rename() {
  if (g_deadly_rename > 0 && --g_deadly_rename == 0) ::raise(SIGKILL);
}

}  // namespace

// In place of the C library's, for the whole program.
extern "C" int rename(const char* from, const char* to) noexcept {
  count_rename();
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                         unsigned flags) noexcept {
  if (!g_exchange) {
    errno = EINVAL;
    return -1;
  }
  count_rename();
  return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

using Names = std::set<std::string>;

constexpr const char* kPart = "m_CPUExecutionProvider.bin";

class CompileOutputs : public ::testing::Test {
 protected:
  void SetUp() override {
    write_source("Mul");
    overwrite_.overwrite = true;
  }
  void TearDown() override {
    g_deadly_rename = 0;
    g_exchange = true;
  }

  void write_source(const std::string& op) const {
    folder_.write("m.onnx",
                  model_bytes("m (float[N,2] x) => (float[N,2] y) <float[2] w = {3, 4}> { y = " +
                              op + "(x, w) }"));
  }
  Names names() const {
    Names found;
    for (const auto& entry : fs::directory_iterator(folder_ / "")) {
      found.insert(entry.path().filename().string());
    }
    return found;
  }
  std::vector<float> result() const {
    const Session session(folder_ / "m_ctx.onnx");
    return to_vector(session.run(std::vector<Value>{floats({1, 2}, {1, 2})})[0]);
  }

  TemporaryFolder folder_;
  CompileOptions overwrite_;
};

// Before the first rename the old pair stays, after the second the new one is there, in between
// what there is is refused; compiling again leaves the pair and nothing else.
TEST_F(CompileOutputs, AProcessThatDiesLeavesAPairOrOneThatIsRefused) {
  const Names pair = {"m.onnx", "m_ctx.onnx", kPart};
  for (const bool with_exchange : {true, false}) {
    for (const bool existed : {true, false}) {
      for (const int at : {1, 2}) {
        SCOPED_TRACE(testing::Message() << with_exchange << existed << at);
        fs::remove(folder_ / "m_ctx.onnx");
        fs::remove(folder_ / kPart);
        write_source("Mul");
        if (existed) compile(folder_ / "m.onnx");
        write_source("Sub");
        const pid_t child = ::fork();
        if (child == 0) {
          g_exchange = with_exchange;
          g_deadly_rename = at;
          compile(folder_ / "m.onnx", {}, overwrite_);
          ::_exit(1);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        EXPECT_GT(names().size(), existed ? 3u : 1u) << "temporary files";
        if (existed && at == 1) {
          EXPECT_EQ(result(), (std::vector<float>{3, 8}));
        } else if (existed) {
          expect_mentions(message_of(ErrorCode::kFail, [&] { result(); }),
                          {"do not belong together", "--overwrite"});
          EXPECT_EQ(check_compatibility(folder_ / "m_ctx.onnx").facet, "container");
        } else {
          EXPECT_FALSE(fs::exists(folder_ / "m_ctx.onnx"));
        }
        compile(folder_ / "m.onnx", {}, overwrite_);
        EXPECT_EQ(names(), pair);
        EXPECT_EQ(result(), (std::vector<float>{-2, -2}));
      }
    }
  }
}

TEST_F(CompileOutputs, OnlyCompiledModelsAreReplaced) {
  compile(folder_ / "m.onnx");
  // A model of another provider is somebody else's work; an empty file is nobody's.
  const auto text = [](std::string_view bytes) { return std::as_bytes(std::span(bytes)); };
  folder_.write("diary.txt", text("dear diary"));
  folder_.write("code.py", text("print()\n"));
  folder_.write("other.onnx", model_bytes("m (float[N] x) => (float[N] y) { y = Exp(x) }"));
  fs::copy(folder_ / kPart, folder_ / "part.onnx");
  fs::copy(folder_ / "m_ctx.onnx", folder_ / "wrapper_CPUExecutionProvider.bin");
  constexpr const char* const kKept[] = {"diary.txt", "code.py", "other.onnx", "part.onnx",
                                         "wrapper_ctx.onnx"};
  const Names before = names();
  for (const char* name : kKept) {
    for (const bool embed : {false, true}) {
      if (embed && std::string_view(name) == "wrapper_ctx.onnx") continue;  // it is free
      CompileOptions options = overwrite_;
      options.embed = embed;
      expect_mentions(message_of(ErrorCode::kInvalidArgument,
                                 [&] { compile(folder_ / "m.onnx", folder_ / name, options); }),
                      {"is no compiled model", "remove it or choose another output"});
    }
  }
  EXPECT_EQ(names(), before);
  EXPECT_EQ(fs::file_size(folder_ / "diary.txt"), 10u);
  folder_.write("empty_ctx.onnx", {});
  compile(folder_ / "m.onnx", folder_ / "empty_ctx.onnx", overwrite_);
  compile(folder_ / "m.onnx", folder_ / "empty_ctx.onnx", overwrite_);
  EXPECT_NO_THROW(Session(folder_ / "empty_ctx.onnx"));
}

// Whoever writes to a link means what lies behind it, or does not know that it is one.
TEST_F(CompileOutputs, LinksAreRefused) {
  compile(folder_ / "m.onnx", folder_ / "behind_ctx.onnx");
  const auto old = read_file((folder_ / "behind_ctx.onnx").string());
  for (const char* target : {"behind_ctx.onnx", "nowhere", "/dev/null"}) {
    for (const char* link : {"m_ctx.onnx", kPart}) {
      fs::create_symlink(target, folder_ / link);
      for (const bool overwrite : {false, true}) {
        CompileOptions options;
        options.overwrite = overwrite;
        expect_mentions(message_of(ErrorCode::kInvalidArgument,
                                   [&] { compile(folder_ / "m.onnx", {}, options); }),
                        {link, "a symbolic link"});
      }
      EXPECT_EQ(fs::read_symlink(folder_ / link), target);
      fs::remove(folder_ / link);
    }
  }
  EXPECT_EQ(read_file((folder_ / "behind_ctx.onnx").string()), old);
}

TEST_F(CompileOutputs, EveryNameThatFits) {
  // Of 255 bytes the part's name takes 25 for its ending, the model's 5.
  for (const size_t length : {200, 225, 229, 230, 231, 250, 251}) {
    SCOPED_TRACE(length);
    const std::string name = std::string(length, 'n') + ".onnx";
    for (const bool embed : {false, true}) {
      CompileOptions options = overwrite_;
      options.embed = embed;
      const auto call = [&] { compile(folder_ / "m.onnx", folder_ / name.c_str(), options); };
      if (length <= (embed ? 250u : 230u)) {
        call();
        EXPECT_NO_THROW(Session(folder_ / name.c_str()));
      } else {
        expect_mentions(message_of(ErrorCode::kInvalidArgument, call), {"File name too long"});
      }
      std::error_code ignored;
      fs::remove(folder_ / name.c_str(), ignored);
      fs::remove(folder_ / (std::string(length, 'n') + "_CPUExecutionProvider.bin").c_str(),
                 ignored);
    }
  }
  EXPECT_EQ(names(), Names{"m.onnx"});
}

TEST_F(CompileOutputs, WhatIsNoModelSaysSoBeforeItsOutputs) {
  fs::create_directory(folder_ / "d");
  fs::create_directory(folder_ / "d_ctx.onnx");
  folder_.write("none_ctx.onnx", {});
  const std::string folder = (folder_ / "d").string(), none = (folder_ / "none.onnx").string();
  expect_mentions(message_of(ErrorCode::kInvalidArgument, [&] { compile(folder); }),
                  {"'" + folder + "' is a folder"});
  expect_mentions(message_of(ErrorCode::kNoSuchFile, [&] { compile(none); }), {"'" + none + "'"});
  expect_mentions(message_of(ErrorCode::kInvalidArgument, [&] { compile(""); }),
                  {"path must not be empty"});
}

}  // namespace
}  // namespace sardonyx
