#include "base/staged_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
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

// What the names of temporary files of `path` begin with; an ending of numbers follows. The short
// one is for names that leave no room for it.
std::string long_start(const std::string& path) { return path + '.'; }

std::string short_start(const std::string& path) {
  const size_t name = path.rfind('/') + 1;
  const uint64_t hash = XXH3_64bits(path.data() + name, path.size() - name);
  return fmt::format("{}.{:016x}.", path.substr(0, name), hash);
}

// "<digits>.<digits>.tmp"
std::string next_ending() {
  static std::atomic<unsigned> next{0};
  return fmt::format("{}.{}.tmp", ::getpid(), next++);
}

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

void remove_if_abandoned(const char* path) {
  const int fd = ::open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0 && is_same_file(fd, path)) ::unlink(path);
  ::close(fd);
}

// Temporary files of `path` that nobody is writing: processes that were killed left them. Who
// writes one holds a lock on it, which goes with the process. Where there are no such locks, or the
// file is somebody else's, it stays.
void remove_abandoned(const std::string& path) {
  DIR* const folder = ::opendir(folder_of(path).c_str());
  if (folder == nullptr) return;
  const size_t at = path.rfind('/') + 1;  // where names begin
  const std::string starts[] = {long_start(path), short_start(path)};
  while (const dirent* const entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    for (const std::string& start : starts) {
      const std::string_view expected = std::string_view(start).substr(at);
      if (!name.starts_with(expected)) continue;
      if (!is_ending_of_temporary(name.substr(expected.size()))) continue;
      remove_if_abandoned((path.substr(0, at) + entry->d_name).c_str());
    }
  }
  ::closedir(folder);
}

// Nothing, or a file: what else there is would be lost, and not only to whoever asked for it. A
// link may lead to such things, and /dev/stdout is one.
void check_is_file_or_nothing(const std::string& path) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno != ENAMETOOLONG) return;  // creating the temporary file says the rest
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("cannot write to '{}': {}; choose a shorter name", path,
                            std::strerror(ENAMETOOLONG)));
  }
  if (S_ISREG(info.st_mode)) return;
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("'{}' is {}, expected the path of a file, which is replaced, or of none", path,
                  S_ISDIR(info.st_mode)   ? "a folder"
                  : S_ISLNK(info.st_mode) ? "a symbolic link"
                                          : "a device, pipe or socket"));
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
  if (path_.back() == '/') {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is a folder, expected the path of a file", path_));
  }
  check_is_file_or_nothing(path_);
  remove_abandoned(path_);
  int failure = EEXIST;
  std::string start = long_start(path_);
  for (int i = 0; fd_ < 0 && i < kAttempts; ++i) {
    temporary_ = start + next_ending();
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0) {
      failure = errno;
      if (failure == ENAMETOOLONG && start == long_start(path_)) {
        start = short_start(path_);
      } else if (failure != EEXIST) {
        break;
      }
      continue;
    }
    // Somebody who came before the lock takes the file for an abandoned one.
    struct stat info = {};
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
  put_in_place();
  sync_folder();
}

void StagedFile::publish_unsynced() { put_in_place(); }

void StagedFile::put_in_place() {
  check_is_file_or_nothing(path_);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("replace", errno);
  temporary_.clear();
  ::close(std::exchange(fd_, -1));  // not before: the lock goes with it
}

// The new name too; not every file system can.
void StagedFile::sync_folder() const {
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

// A temporary name of the same kind for what lies at path_: by a second link, which keeps it in
// place until the new file takes it. Where there are none, there is a moment without either.
std::string StagedFile::set_aside() const {
  for (int i = 0; i < kAttempts; ++i) {
    const size_t numbers = temporary_.rfind('.', temporary_.rfind('.', temporary_.size() - 5) - 1);
    std::string aside = temporary_.substr(0, numbers + 1) + next_ending();
    if (::link(path_.c_str(), aside.c_str()) == 0) return aside;
    if (errno == EEXIST) continue;
    if (std::rename(path_.c_str(), aside.c_str()) == 0) return aside;
    break;
  }
  fail("replace", errno);
}

// Afterwards temporary_ names what was replaced, or nothing.
void StagedFile::exchange() {
  check_is_file_or_nothing(path_);
  // The lock of what is replaced: its new name is that of a temporary file, which others remove.
  const int old = ::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (old < 0 && errno == ENOENT) return put_in_place();
  if (old >= 0) ::flock(old, LOCK_EX | LOCK_NB);
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) != 0) {
    // Not every file system can.
    std::string aside;
    try {
      aside = set_aside();
      if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("replace", errno);
    } catch (const Error&) {
      if (!aside.empty()) {
        std::rename(aside.c_str(), path_.c_str());
        ::unlink(aside.c_str());  // rename leaves both names of one file
      }
      if (old >= 0) ::close(old);
      throw;
    }
    temporary_ = aside;
  }
  ::close(std::exchange(fd_, old));
}

void StagedFile::publish_both(StagedFile& first, StagedFile& second) {
  first.sync();
  second.sync();
  const FolderLock lock(folder_of(second.path_));
  first.exchange();
  try {
    second.put_in_place();
  } catch (const Error&) {  // while nobody else publishes
    const std::string replaced = std::exchange(first.temporary_, "");
    if (replaced.empty()) {
      ::unlink(first.path_.c_str());
    } else {
      std::rename(replaced.c_str(), first.path_.c_str());
    }
    throw;
  }
  second.sync_folder();
  if (!first.temporary_.empty()) ::unlink(std::exchange(first.temporary_, "").c_str());
}

void StagedFile::wait_for_both(const std::string& path) { const FolderLock lock(folder_of(path)); }

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  StagedFile file(path);
  file.write(bytes);
  file.publish_unsynced();
}

}  // namespace sardonyx
