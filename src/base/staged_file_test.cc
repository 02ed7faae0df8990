#include "base/staged_file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>

#include "base/mapped_file.h"
#include "sardonyx/error.h"

namespace {

bool g_exchange = true;  // whether the file system can

}  // namespace

extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                         unsigned flags) noexcept {
  if (!g_exchange) {
    errno = EINVAL;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

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

TEST_F(StagedFileTest, TwoTogether) {
  const std::string other = folder_ + "/second";
  for (const bool with_exchange : {true, false}) {
    g_exchange = with_exchange;
    for (const bool existed : {true, false}) {
      for (const std::string& name : {path_, other}) {
        fs::remove(name);
        if (existed) write_file(name, bytes("old"));
      }
      StagedFile first(path_), second(other);
      first.write(bytes("new"));
      second.write(bytes("second"));
      StagedFile::publish_both(first, second);
      EXPECT_EQ(content(), "new");
      EXPECT_EQ(files(), 2u);
    }
  }
  g_exchange = true;
}

// Two files that belong together: the second cannot be put in place, the first goes back.
TEST_F(StagedFileTest, AFailureOfTheSecondUndoesTheFirst) {
  for (const bool with_exchange : {true, false}) {
    g_exchange = with_exchange;
    for (const bool existed : {true, false}) {
      fs::remove(path_);
      if (existed) write_file(path_, bytes("old"));
      {
        StagedFile first(path_), second(folder_ + "/second");
        first.write(bytes("new"));
        fs::create_directory(folder_ + "/second");
        EXPECT_THROW(StagedFile::publish_both(first, second), Error);
        if (existed) {
          EXPECT_EQ(content(), "old");
        }
      }
      EXPECT_EQ(fs::exists(path_), existed);
      EXPECT_EQ(files(), existed ? 2u : 1u);  // and the folder
      fs::remove(folder_ + "/second");
    }
  }
  g_exchange = true;
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

// Nothing of it is touched, neither before nor when it came while the file was written.
TEST_F(StagedFileTest, RefusesWhatIsNoFile) {
  const auto message_of = [](ErrorCode code, const std::function<void()>& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  };
  const auto opens = [](const std::string& path) { return [path] { StagedFile file(path); }; };
  constexpr ErrorCode kBad = ErrorCode::kInvalidArgument;
  message_of(kBad, opens(""));
  message_of(kBad, opens(folder_ + "/new/"));
  message_of(kBad, opens(folder_ + "/" + std::string(256, 'n')));
  message_of(ErrorCode::kFail, opens(folder_ + "/nowhere/file"));
  write_file(folder_ + "/other", bytes("other"));
  struct Row {
    const char* what;
    std::function<int()> make;
  };
  const Row rows[] = {
      {"a folder", [&] { return ::mkdir(path_.c_str(), 0700); }},
      {"a device, pipe or socket", [&] { return ::mkfifo(path_.c_str(), 0600); }},
      {"a device, pipe or socket",
       [&] {
         sockaddr_un address = {};
         address.sun_family = AF_UNIX;
         path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
         const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
         const int result =
             ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
         ::close(fd);
         return result;
       }},
      {"a symbolic link", [&] { return ::symlink("other", path_.c_str()); }},
      {"a symbolic link", [&] { return ::symlink("nowhere", path_.c_str()); }},
      {"a symbolic link", [&] { return ::symlink("file", path_.c_str()); }},
      {"a symbolic link", [&] { return ::symlink("/dev/null", path_.c_str()); }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    StagedFile early(path_);
    StagedFile first(folder_ + "/first");
    ASSERT_EQ(row.make(), 0);
    struct stat before = {}, after = {};
    ASSERT_EQ(::lstat(path_.c_str(), &before), 0);
    const std::function<void()> calls[] = {opens(path_), [&] { early.publish(); },
                                           [&] { StagedFile::publish_both(first, early); },
                                           [&] { StagedFile::publish_both(early, first); }};
    for (const auto& call : calls) {
      const std::string message = message_of(kBad, call);
      EXPECT_NE(message.find(row.what), message.npos) << message;
      EXPECT_NE(message.find(path_), message.npos) << message;
      ASSERT_EQ(::lstat(path_.c_str(), &after), 0);
      EXPECT_EQ(after.st_ino, before.st_ino);
      EXPECT_EQ(after.st_mode, before.st_mode);
    }
    EXPECT_FALSE(fs::exists(folder_ + "/first"));
    fs::remove(path_);
  }
  EXPECT_EQ(fs::file_size(folder_ + "/other"), 5u);
}

TEST_F(StagedFileTest, NamesOfEveryLength) {
  for (size_t length = 225; length <= 255; ++length) {
    path_ = folder_ + "/" + std::string(length, 'n');
    killed_process([&] { new StagedFile(path_); });
    EXPECT_EQ(files(), 1u);
    StagedFile file(path_);  // removes what was left
    EXPECT_EQ(files(), 1u);
    file.write(bytes("new"));
    file.publish();
    EXPECT_EQ(content(), "new");
    fs::remove(path_);
  }
}

}  // namespace
}  // namespace sardonyx
