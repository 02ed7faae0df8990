// ModelFolder: the folder beside a model in which the files lie that it names: external data and
// compiled parts. A location is relative to it, and its resolved target must lie in the folder the
// model was opened from or in the folder of the model's real path (model hubs lay models out as
// symbolic links). Used by ExternalData and find_ep_context's callers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sardonyx {

class ModelFolder {
 public:
  // No folder: only check_location() can be asked.
  ModelFolder() = default;
  // Throws Error(kNoSuchFile) when the folder is missing.
  static ModelFolder beside_model(const std::string& model_path);
  static ModelFolder of(const std::string& folder);

  bool exists() const { return !folder_.empty(); }
  const std::string& path() const { return folder_; }

  // The real path of the file that `location` names; `what` starts the messages: "external data".
  // Throws Error(kInvalidGraph) for a location that is empty, absolute, or leads out of the
  // folder, through ".." or a symbolic link; kNoSuchFile when nothing is there.
  std::string resolve(std::string_view location, std::string_view what) const;

  // The checks of resolve() that need no files.
  static void check_location(std::string_view location, std::string_view what);

 private:
  std::string folder_;                // where locations start
  std::vector<std::string> allowed_;  // resolved folders in which targets may lie
};

}  // namespace sardonyx
