// MappedFile: a regular file seen as read-only bytes, mapped on demand by the operating system.
// Whoever keeps views into it holds the shared_ptr. The bytes follow the file: when somebody
// overwrites or cuts it, they change or vanish (SIGBUS), so views must not outlive the load of a
// file that others may write; read_file() copies. Called by the model reader, the artifact reader
// and the command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sardonyx {

class MappedFile {
 public:
  enum class Links { kFollow, kRefuse };  // when the path itself is a symbolic link

  // Throws Error: kNoSuchFile when nothing is there, kInvalidArgument when it is not a regular
  // file, kFail when it may not be read or mapped. Messages name the path.
  static std::shared_ptr<const MappedFile> open(const std::string& path,
                                                Links links = Links::kFollow);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

 private:
  MappedFile() = default;
  std::string path_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// A regular file read in pieces. Unlike views of a mapping these need no memory, and damage to the
// disk is an error.
class FileReader {
 public:
  // Throws as MappedFile::open.
  explicit FileReader(const std::string& path);
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;
  ~FileReader();

  uint64_t size() const { return size_; }  // when it was opened
  // Fills `to` with the bytes from `offset` on; returns how many there are, which is less at the
  // end of the file only. Throws Error(kFail).
  size_t read(uint64_t offset, std::span<std::byte> to) const;

 private:
  const std::string path_;
  int file_ = -1;
  uint64_t size_ = 0;
};

// The whole file as a copy; the same errors.
std::vector<std::byte> read_file(const std::string& path);

}  // namespace sardonyx
