#include "onnx/model_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "ir/text_lexer.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

std::string resolve_folder(const fs::path& folder) {
  std::error_code error;
  const fs::path resolved = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
  if (error) {
    throw Error(ErrorCode::kNoSuchFile,
                fmt::format("there is no folder '{}' to look for the model's files in: {}",
                            folder.string(), error.message()));
  }
  return resolved.string();
}

bool lies_in(const std::string& path, const std::string& folder) {
  const std::string prefix = folder.ends_with('/') ? folder : folder + '/';
  return path.size() > prefix.size() && path.starts_with(prefix);
}

}  // namespace

ModelFolder ModelFolder::beside_model(const std::string& model_path) {
  const fs::path path(model_path);
  ModelFolder result;
  result.folder_ = resolve_folder(path.parent_path());
  result.allowed_ = {result.folder_};
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (!error) result.allowed_.push_back(real.parent_path().string());
  return result;
}

ModelFolder ModelFolder::of(const std::string& folder) {
  ModelFolder result;
  result.folder_ = resolve_folder(folder);
  result.allowed_ = {result.folder_};
  return result;
}

void ModelFolder::check_location(std::string_view location, std::string_view what) {
  const fs::path path(location);
  const char* fault = nullptr;
  if (location.empty()) {
    fault = "is empty";
  } else if (location.find('\0') != location.npos) {
    fault = "holds a NUL byte";
  } else if (path.is_absolute()) {
    fault = "is an absolute path";
  } else if (std::find(path.begin(), path.end(), "..") != path.end()) {
    fault = "climbs out with '..'";
  }
  if (fault != nullptr) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: location {} {}; it must be a path relative to the model's folder",
                            what, quote_string(std::string(location.substr(0, 200))), fault));
  }
}

std::string ModelFolder::resolve(std::string_view location, std::string_view what) const {
  check_location(location, what);
  const fs::path path = fs::path(folder_) / location;
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  if (error) {
    throw Error(ErrorCode::kNoSuchFile,
                fmt::format("{}: cannot open '{}': {}; the file belongs beside the model", what,
                            path.string(), error.message()));
  }
  const auto holds = [&](const std::string& folder) { return lies_in(target.string(), folder); };
  if (std::none_of(allowed_.begin(), allowed_.end(), holds)) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: location '{}' leads out of the model's folder '{}'; copy the file "
                            "there or export the model again",
                            what, location, folder_));
  }
  return target.string();
}

}  // namespace sardonyx
