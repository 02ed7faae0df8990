#include "base/staged_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

constexpr int kAttempts = 1000;  // a crashed process with our number may have left files

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

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
  static std::atomic<unsigned> next{0};
  for (int i = 0; fd_ < 0 && i < kAttempts; ++i) {
    temporary_ = fmt::format("{}.{}.{}.tmp", path_, ::getpid(), next++);
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && errno != EEXIST) break;
  }
  if (fd_ < 0) {
    temporary_.clear();
    fail("create", errno);
  }
}

StagedFile::~StagedFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (!for_now_) return;
  if (replaced_.empty()) {
    ::unlink(path_.c_str());
  } else {
    std::rename(replaced_.c_str(), path_.c_str());
  }
  sync_folder();
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
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0) fail("write", errno);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("replace", errno);
  temporary_.clear();
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

void StagedFile::confirm() {
  for_now_ = false;
  if (!replaced_.empty()) ::unlink(replaced_.c_str());
}

}  // namespace sardonyx
