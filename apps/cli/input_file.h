// Opening the files that the command line names.
#pragma once

#include <filesystem>
#include <fstream>

namespace sardonyx::cli {

// Throws Error(kNoSuchFile) that says why it cannot be read.
std::ifstream open_input(const std::filesystem::path& path);

}  // namespace sardonyx::cli
