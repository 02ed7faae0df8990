#include "input_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "sardonyx/error.h"

namespace sardonyx::cli {

std::ifstream open_input(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::file_type type = std::filesystem::status(path, ignored).type();
  const auto fail = [&](const char* reason) {
    throw Error(ErrorCode::kNoSuchFile, fmt::format("cannot read '{}': {}", path.string(), reason));
  };
  if (type == std::filesystem::file_type::not_found) {
    fail("there is no such file; check the path and the working directory");
  }
  if (type == std::filesystem::file_type::directory) fail("it is a folder, expected a file");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(std::strerror(errno));
  return in;
}

}  // namespace sardonyx::cli
