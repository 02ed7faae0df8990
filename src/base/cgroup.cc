#include "base/cgroup.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <vector>

namespace sardonyx {
namespace {

struct Folder {
  std::string path;
  bool is_v2;
};

void add_with_parents(const std::string& mount, std::string path, bool is_v2,
                      std::vector<Folder>& folders) {
  while (!path.empty() && path != "/") {
    folders.push_back({mount + path, is_v2});
    const size_t slash = path.rfind('/');
    path = slash == std::string::npos ? "" : path.substr(0, slash);
  }
  folders.push_back({mount, is_v2});
}

// The groups of this process that may limit what `controller` controls, and all above them.
std::vector<Folder> folders_of(const std::string& controller, const std::string& root) {
  const std::string mounts = root + "/sys/fs/cgroup";
  std::vector<Folder> folders;
  std::ifstream file(root + "/proc/self/cgroup");
  // Each line: number ':' controllers ':' path; no controllers: version 2.
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      add_with_parents(mounts, path, true, folders);
      add_with_parents(mounts + "/unified", path, true, folders);
    } else if (("," + controllers + ",").find("," + controller + ",") != std::string::npos) {
      add_with_parents(mounts + "/" + controller, path, false, folders);
      if (controllers != controller) {
        add_with_parents(mounts + "/" + controllers, path, false, folders);
      }
    }
  }
  return folders;
}

// The words of a file's first line.
std::vector<std::string> read_words(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// A positive whole number; nullopt for "max", -1 and anything else.
std::optional<int64_t> number(const std::vector<std::string>& words, size_t at) {
  if (at >= words.size()) return std::nullopt;
  const std::string& word = words[at];
  int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value <= 0) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> cgroup_cpu_cores(const std::string& root) {
  std::optional<double> least;
  for (const Folder& folder : folders_of("cpu", root)) {
    std::optional<int64_t> quota, period;
    if (folder.is_v2) {
      const std::vector<std::string> words = read_words(folder.path + "/cpu.max");
      quota = number(words, 0);
      period = number(words, 1);
    } else {
      quota = number(read_words(folder.path + "/cpu.cfs_quota_us"), 0);
      period = number(read_words(folder.path + "/cpu.cfs_period_us"), 0);
    }
    if (!quota || !period) continue;
    const double cores = static_cast<double>(*quota) / static_cast<double>(*period);
    least = least ? std::min(*least, cores) : cores;
  }
  return least;
}

std::optional<int64_t> cgroup_memory_bytes(const std::string& root) {
  // Version 1 says "no limit" with the largest number of pages.
  constexpr int64_t kNoLimit = int64_t{1} << 60;
  std::optional<int64_t> least;
  for (const Folder& folder : folders_of("memory", root)) {
    const char* const name = folder.is_v2 ? "/memory.max" : "/memory.limit_in_bytes";
    const std::optional<int64_t> limit = number(read_words(folder.path + name), 0);
    if (limit && *limit < kNoLimit) least = least ? std::min(*least, *limit) : *limit;
  }
  return least;
}

}  // namespace sardonyx
