#include "input_file.h"

#include <span>

#include "sardonyx/error.h"

namespace sardonyx::cli {
namespace {

constexpr size_t kBufferBytes = 1 << 16;

// Whatever is wrong with the path, there is no file to read.
FileReader open(const std::filesystem::path& path) try {
  return FileReader(path.string());
} catch (const Error& error) {
  throw Error(ErrorCode::kNoSuchFile, error.what());
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path) : std::istream(nullptr), buffer_(path) {
  rdbuf(&buffer_);
}

InputFile::Buffer::Buffer(const std::filesystem::path& path)
    : file(open(path)), bytes(kBufferBytes) {}

InputFile::Buffer::int_type InputFile::Buffer::underflow() {
  const size_t got = file.read(done, std::as_writable_bytes(std::span(bytes)));
  done += got;
  setg(bytes.data(), bytes.data(), bytes.data() + got);
  return got == 0 ? traits_type::eof() : traits_type::to_int_type(bytes[0]);
}

}  // namespace sardonyx::cli
