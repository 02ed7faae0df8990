#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "base/thread_pool.h"

namespace sardonyx {
namespace {

int cores_by_affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  // More processors than cpu_set_t holds.
  return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
}

std::optional<std::string> read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<double> ratio(const std::string& quota, const std::string& period) {
  try {
    const double q = std::stod(quota);
    const double p = std::stod(period);
    if (q > 0 && p > 0) return q / p;
  } catch (const std::exception&) {
  }
  return std::nullopt;
}

// Quota of one cgroup folder, in cores.
std::optional<double> quota_of(const std::string& folder, bool v2) {
  if (v2) {
    const auto line = read_line(folder + "/cpu.max");
    if (!line) return std::nullopt;
    std::istringstream words(*line);
    std::string quota, period;
    words >> quota >> period;
    return quota == "max" ? std::nullopt : ratio(quota, period);
  }
  const auto quota = read_line(folder + "/cpu.cfs_quota_us");
  const auto period = read_line(folder + "/cpu.cfs_period_us");
  return quota && period ? ratio(*quota, *period) : std::nullopt;
}

// The least quota from the process's cgroup up to the root of the hierarchy.
std::optional<double> quota_along(const std::string& mount, std::string path, bool v2) {
  std::optional<double> least;
  for (;;) {
    if (const auto quota = quota_of(mount + (path == "/" ? "" : path), v2)) {
      least = least ? std::min(*least, *quota) : *quota;
    }
    if (path.empty() || path == "/") return least;
    const size_t slash = path.rfind('/');
    path = slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
  }
}

std::optional<double> cores_by_quota() {
  std::optional<double> least;
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    std::optional<double> quota;
    if (controllers.empty()) {
      quota = quota_along("/sys/fs/cgroup", path, true);
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      quota = quota_along("/sys/fs/cgroup/cpu", path, false);
      if (!quota) quota = quota_along("/sys/fs/cgroup/" + controllers, path, false);
    }
    if (quota) least = least ? std::min(*least, *quota) : *quota;
  }
  return least;
}

}  // namespace

int allowed_cores() {
  int cores = cores_by_affinity();
  if (const auto quota = cores_by_quota()) {
    cores = std::min(cores, std::max(1, static_cast<int>(*quota + 0.999)));
  }
  return cores;
}

}  // namespace sardonyx
