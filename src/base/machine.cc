#include "base/machine.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace sardonyx {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// What follows "name<blanks>:<blanks>" in a file of such lines.
std::string field(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    const size_t colon = line.find_first_not_of(" \t", name.size());
    if (colon == std::string::npos || line[colon] != ':') continue;
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

// "32K", "1024K", "24084 kB".
int64_t kibibytes(const std::string& text) { return std::atoll(text.c_str()) * 1024; }

// "always [madvise] never" -> "madvise"
std::string chosen_word(const std::string& line) {
  const size_t begin = line.find('['), end = line.find(']');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return "";
  return line.substr(begin + 1, end - begin - 1);
}

std::vector<CpuCache> read_caches(const std::string& folder) {
  std::vector<CpuCache> caches;
  for (int i = 0; i < 16; ++i) {
    const std::string cache = folder + "/index" + std::to_string(i);
    const std::string size = first_line(cache + "/size");
    if (size.empty()) break;
    caches.push_back({std::atoi(first_line(cache + "/level").c_str()), first_line(cache + "/type"),
                      kibibytes(size)});
  }
  return caches;
}

}  // namespace

Machine read_machine(const std::string& root) {
  Machine machine;
  struct utsname names = {};
  if (uname(&names) == 0) {
    machine.system = std::string(names.sysname) + " " + names.release + " " + names.machine;
  }
  const std::string cpu = root + "/sys/devices/system/cpu/cpu0";
  machine.cpu_name = field(root + "/proc/cpuinfo", "model name");
  machine.cores = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  machine.caches = read_caches(cpu + "/cache");
  machine.governor = first_line(cpu + "/cpufreq/scaling_governor");
  machine.huge_pages =
      chosen_word(first_line(root + "/sys/kernel/mm/transparent_hugepage/enabled"));
  machine.memory_bytes = kibibytes(field(root + "/proc/meminfo", "MemTotal"));
  machine.available_bytes = kibibytes(field(root + "/proc/meminfo", "MemAvailable"));
  return machine;
}

int cores_by_affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  // More processors than cpu_set_t holds.
  return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace sardonyx
