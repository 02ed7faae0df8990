// Reading the files that the command line names.
#pragma once

#include <filesystem>
#include <istream>
#include <streambuf>
#include <vector>

#include "base/mapped_file.h"

namespace sardonyx::cli {

// A regular file as a stream of bytes.
class InputFile : public std::istream {
 public:
  // Throws Error(kNoSuchFile) that says why it cannot be read: a pipe, device or socket is refused
  // and never waited for.
  explicit InputFile(const std::filesystem::path& path);

  uint64_t size() const { return buffer_.file.size(); }

 private:
  struct Buffer : std::streambuf {
    explicit Buffer(const std::filesystem::path& path);
    int_type underflow() override;

    FileReader file;
    uint64_t done = 0;  // bytes of the file that were read
    std::vector<char> bytes;
  };
  Buffer buffer_;
};

}  // namespace sardonyx::cli
