#include "base/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void refuse_special(const std::string& path, const char* what) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is {}, expected a regular file", path, what));
}

[[noreturn]] void fail_open(const std::string& path, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    throw Error(
        ErrorCode::kNoSuchFile,
        fmt::format("there is no file '{}'; check the path and the working directory", path));
  }
  if (error == ELOOP) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is a symbolic link where none is allowed", path));
  }
  if (error == ENXIO) refuse_special(path, "a device, pipe or socket");
  throw Error(ErrorCode::kFail,
              fmt::format("cannot open '{}': {}{}", path, std::strerror(error),
                          error == EACCES ? "; check the permissions of file and folders" : ""));
}

// Opens for reading; `info` describes what was opened, which is a regular file.
int open_regular(const std::string& path, bool follow, struct stat& info) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    throw Error(ErrorCode::kInvalidArgument, "a file path must not be empty nor hold a NUL byte");
  }
  // O_NONBLOCK: opening a pipe that nobody writes would wait for ever.
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW);
  const int fd = ::open(path.c_str(), flags);
  if (fd < 0) fail_open(path, errno);
  if (::fstat(fd, &info) != 0) {
    const int error = errno;
    ::close(fd);
    fail_open(path, error);
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(fd);
    refuse_special(path, S_ISDIR(info.st_mode) ? "a folder" : "a device, pipe or socket");
  }
  return fd;
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path, Links links) {
  struct stat info = {};
  const Descriptor file(open_regular(path, links == Links::kFollow, info));
  std::shared_ptr<MappedFile> result(new MappedFile());
  result->path_ = path;
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) return result;
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (memory == MAP_FAILED) {
    throw Error(ErrorCode::kFail,
                fmt::format("cannot map '{}' ({} bytes): {}", path, size, std::strerror(errno)));
  }
  result->data_ = static_cast<const std::byte*>(memory);
  result->size_ = size;
  return result;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

FileReader::FileReader(const std::string& path) : path_(path) {
  struct stat info = {};
  file_ = open_regular(path, true, info);
  size_ = static_cast<uint64_t>(info.st_size);
}

FileReader::~FileReader() { ::close(file_); }

size_t FileReader::read(uint64_t offset, std::span<std::byte> to) const {
  size_t done = 0;
  while (done < to.size()) {
    const ssize_t got =
        ::pread(file_, to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw Error(ErrorCode::kFail, fmt::format("cannot read '{}' at byte {}: {}", path_,
                                                offset + done, std::strerror(errno)));
    }
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

std::vector<std::byte> read_file(const std::string& path) {
  const FileReader file(path);
  std::vector<std::byte> bytes(file.size());
  bytes.resize(file.read(0, bytes));
  return bytes;
}

}  // namespace sardonyx
