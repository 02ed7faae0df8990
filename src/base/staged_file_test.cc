#include "base/staged_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>

#include "base/mapped_file.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

class StagedFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "sardonyx_staged_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ + "/file";
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::span<const std::byte> bytes(std::string_view text) {
    return std::as_bytes(std::span(text));
  }
  std::string content() const {
    const auto read = read_file(path_);
    return {reinterpret_cast<const char*>(read.data()), read.size()};
  }
  size_t files() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_)) ++count;
    return count;
  }

  std::string folder_, path_;
};

TEST_F(StagedFileTest, AppearsWhenPublished) {
  StagedFile file(path_);
  file.write(bytes("ab"));
  file.write_zeros(5000);
  file.write(bytes("c"));
  EXPECT_EQ(file.size(), 5003u);
  EXPECT_FALSE(fs::exists(path_));
  file.publish();
  EXPECT_EQ(content(), "ab" + std::string(5000, '\0') + "c");
  EXPECT_EQ(files(), 1u);
}

TEST_F(StagedFileTest, LeavesNothingWhenDropped) {
  write_file(path_, bytes("old"));
  {
    StagedFile file(path_);
    file.write(bytes("new"));
  }
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(StagedFileTest, ReplacesWhileTheOldOneIsMapped) {
  write_file(path_, bytes("old"));
  const auto mapped = MappedFile::open(path_);
  StagedFile file(path_);
  file.write(mapped->bytes());
  file.write(bytes(", new"));
  file.publish();
  EXPECT_EQ(content(), "old, new");
  EXPECT_EQ(mapped->bytes().size(), 3u);
}

TEST_F(StagedFileTest, ForNowUntilConfirmed) {
  for (bool confirmed : {false, true}) {
    for (const char* old : {"old", ""}) {
      fs::remove(path_);
      const bool existed = *old != '\0';
      if (existed) write_file(path_, bytes(old));
      {
        StagedFile file(path_);
        file.write(bytes("new"));
        file.publish_for_now();
        EXPECT_EQ(content(), "new");
        if (confirmed) file.confirm();
      }
      if (confirmed || existed) {
        EXPECT_EQ(content(), confirmed ? "new" : "old");
      }
      EXPECT_EQ(files(), confirmed || existed ? 1u : 0u);
    }
  }
}

// Two files that belong together: the second cannot be put in place, the first goes back.
TEST_F(StagedFileTest, AFailureOfTheSecondUndoesTheFirst) {
  write_file(path_, bytes("old"));
  {
    StagedFile first(path_), second(folder_ + "/second");
    first.write(bytes("new"));
    fs::create_directory(folder_ + "/second");
    EXPECT_THROW(StagedFile::publish_both(first, second), Error);
  }
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(files(), 2u);  // and the folder
  StagedFile third(folder_ + "/third");
  fs::create_directory(folder_ + "/third");
  EXPECT_THROW(third.publish_for_now(), Error);
}

// Runs `write` in a process that is killed at its end; returns its number.
pid_t killed_process(const std::function<void()>& write) {
  const pid_t child = ::fork();
  if (child == 0) {
    write();
    ::raise(SIGKILL);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  return child;
}

TEST_F(StagedFileTest, RemovesWhatAKilledWriterLeft) {
  const auto die_while_writing = [&] {
    killed_process([&] {
      auto* file = new StagedFile(path_);
      file->write(bytes("half"));
    });
  };
  die_while_writing();
  die_while_writing();  // removes the one before and leaves its own
  EXPECT_EQ(files(), 1u);
  StagedFile(folder_ + "/fil").write(bytes("x"));  // another file: not its business
  EXPECT_EQ(files(), 1u);
  StagedFile file(path_);
  EXPECT_EQ(files(), 1u);
  EXPECT_TRUE(fs::exists(file.temporary_path()));
  file.write(bytes("whole"));
  file.publish();
  EXPECT_EQ(content(), "whole");
  EXPECT_EQ(files(), 1u);
}

TEST_F(StagedFileTest, LeavesAloneWhatIsNotAbandoned) {
  const char* const names[] = {"file.1.2.tmpx",        "file.1.tmp",     "file..2.tmp",
                               "file.a.2.tmp",         "file.1.2.3.tmp", "fil.1.2.tmp",
                               "file.1.2.tmp.replaced"};
  for (const char* name : names) write_file(folder_ + "/" + name, bytes("other"));
  fs::create_directory(folder_ + "/file.3.4.tmp");
  write_file(folder_ + "/other", bytes("other"));
  fs::create_symlink("other", folder_ + "/file.5.6.tmp");
  const size_t before = files();
  StagedFile first(path_), second(path_);  // each finds the other alive
  first.write(bytes("first"));
  second.write(bytes("second"));
  EXPECT_EQ(files(), before + 2);
  // So does another process.
  killed_process([&] { new StagedFile(path_); });
  EXPECT_EQ(files(), before + 3);
  first.publish();
  EXPECT_EQ(content(), "first");
  second.publish();
  EXPECT_EQ(content(), "second");
  StagedFile third(path_);
  EXPECT_EQ(files(), before + 2);  // the file and what is being written
}

TEST_F(StagedFileTest, RefusesWhatIsNoFile) {
  const auto code_of = [](const std::string& path) {
    try {
      StagedFile file(path);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()), "");
      return error.code();
    }
    return ErrorCode::kOk;
  };
  EXPECT_EQ(code_of(""), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(folder_), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(folder_ + "/new/"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(folder_ + "/nowhere/file"), ErrorCode::kFail);
}

}  // namespace
}  // namespace sardonyx
