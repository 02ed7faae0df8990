#include "base/staged_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

constexpr int kAttempts = 1000;  // names that other processes of our number hold

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// "<digits>.<digits>.tmp"
bool is_ending_of_temporary(std::string_view text) {
  for (const char end : {'.', '.'}) {
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0 || digits == text.size() || text[digits] != end) return false;
    text.remove_prefix(digits + 1);
  }
  return text == "tmp";
}

bool is_same_file(int fd, const char* path) {
  struct stat open = {}, named = {};
  return ::fstat(fd, &open) == 0 && ::lstat(path, &named) == 0 && S_ISREG(open.st_mode) &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

// Temporary files of `path` that nobody is writing: processes that were killed left them. Who
// writes one holds a lock on it, which goes with the process. Where there are no such locks, or the
// file is somebody else's, it stays.
void remove_abandoned(const std::string& path) {
  const std::string start = path.substr(path.rfind('/') + 1) + '.';
  std::error_code error;
  std::filesystem::directory_iterator entry(folder_of(path), error), end;
  for (; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(start)) continue;
    if (!is_ending_of_temporary(std::string_view(name).substr(start.size()))) continue;
    const std::string found = entry->path().string();
    const int fd = ::open(found.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) continue;
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0 && is_same_file(fd, found.c_str())) {
      ::unlink(found.c_str());
    }
    ::close(fd);
  }
}

// A lock among those who publish files of this folder. Whoever holds it for long is none of them,
// and some file systems have no such locks: then it goes on without.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    for (int i = 0; fd_ >= 0 && i < kLockAttempts; ++i) {
      if (::flock(fd_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
      std::this_thread::sleep_for(kLockPause);
    }
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock() {
    if (fd_ >= 0) ::close(fd_);
  }

 private:
  static constexpr int kLockAttempts = 2000;
  static constexpr std::chrono::milliseconds kLockPause{5};
  int fd_;
};

}  // namespace

StagedFile::StagedFile(std::string path) : path_(std::move(path)) {
  if (path_.empty() || path_.find('\0') != std::string::npos) {
    throw Error(ErrorCode::kInvalidArgument, "a file path must not be empty nor hold a NUL byte");
  }
  struct stat info = {};
  if (path_.back() == '/' || (::stat(path_.c_str(), &info) == 0 && S_ISDIR(info.st_mode))) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is a folder, expected the path of a file", path_));
  }
  remove_abandoned(path_);
  static std::atomic<unsigned> next{0};
  int failure = EEXIST;
  for (int i = 0; fd_ < 0 && failure == EEXIST && i < kAttempts; ++i) {
    temporary_ = fmt::format("{}.{}.{}.tmp", path_, ::getpid(), next++);
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0) {
      failure = errno;
      continue;
    }
    // Somebody who came before the lock takes the file for an abandoned one.
    const bool is_taken = ::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    const bool is_removed = ::fstat(fd_, &info) == 0 && info.st_nlink == 0;
    if (is_taken || is_removed) ::close(std::exchange(fd_, -1));
  }
  if (fd_ >= 0) return;
  temporary_.clear();
  throw Error(ErrorCode::kFail,
              fmt::format("cannot create '{}' (nor a temporary file beside it): {}; {}", path_,
                          std::strerror(failure),
                          failure == ENAMETOOLONG ? "choose a shorter name"
                                                  : "the folder must be there and writable"));
}

StagedFile::~StagedFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  undo();
}

void StagedFile::fail(const char* verb, int error) const {
  throw Error(ErrorCode::kFail,
              fmt::format("cannot {} '{}' (through a temporary file beside it) after {} bytes: {}",
                          verb, path_, size_, std::strerror(error)));
}

void StagedFile::write(std::span<const std::byte> bytes) {
  synced_ = false;
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail("write", errno);
    bytes = bytes.subspan(static_cast<size_t>(put));
    size_ += static_cast<uint64_t>(put);
  }
}

void StagedFile::write_zeros(uint64_t count) {
  static constexpr std::array<std::byte, 4096> kZeros{};
  while (count != 0) {
    const auto part = static_cast<size_t>(std::min<uint64_t>(count, kZeros.size()));
    write(std::span(kZeros).first(part));
    count -= part;
  }
}

void StagedFile::sync() {
  if (synced_) return;
  if (::fsync(fd_) != 0) fail("write", errno);
  synced_ = true;
}

void StagedFile::publish() {
  sync();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("replace", errno);
  temporary_.clear();
  ::close(std::exchange(fd_, -1));  // not before: the lock goes with it, and all is on the disk
  sync_folder();
}

// The new name too; not every file system can.
void StagedFile::sync_folder() const {
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

void StagedFile::publish_for_now() {
  const std::string waiting = temporary_ + ".replaced";
  struct stat info = {};
  if (::lstat(path_.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) fail("replace", EISDIR);
  // A second name keeps the old file in place until the new one takes it. Without hard links there
  // is a moment without either.
  if (::link(path_.c_str(), waiting.c_str()) == 0 ||
      (errno != ENOENT && std::rename(path_.c_str(), waiting.c_str()) == 0)) {
    replaced_ = waiting;
  } else if (errno != ENOENT) {
    fail("replace", errno);
  }
  try {
    publish();
  } catch (const Error&) {
    if (!replaced_.empty()) {
      std::rename(replaced_.c_str(), path_.c_str());
      ::unlink(replaced_.c_str());  // rename leaves both names of one file
    }
    throw;
  }
  for_now_ = true;
}

void StagedFile::undo() {
  if (!std::exchange(for_now_, false)) return;
  if (replaced_.empty()) {
    ::unlink(path_.c_str());
  } else {
    std::rename(replaced_.c_str(), path_.c_str());
  }
  sync_folder();
}

void StagedFile::publish_both(StagedFile& first, StagedFile& second) {
  const FolderLock lock(folder_of(second.path_));
  first.publish_for_now();
  try {
    second.publish();
  } catch (const Error&) {
    first.undo();  // while nobody else publishes
    throw;
  }
  first.confirm();
}

void StagedFile::wait_for_both(const std::string& path) { const FolderLock lock(folder_of(path)); }

void StagedFile::confirm() {
  for_now_ = false;
  if (!replaced_.empty()) ::unlink(replaced_.c_str());
}

}  // namespace sardonyx
