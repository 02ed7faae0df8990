// What is wrong with a file that was given as a model and is none.
#pragma once

#include <filesystem>

#include "command.h"

namespace sardonyx::cli {

// The error of loading `model`, for the user: names the file, and when its first bytes are those of
// another format, says which and what to do.
CommandError model_error(const std::filesystem::path& model, const Error& error);

}  // namespace sardonyx::cli
