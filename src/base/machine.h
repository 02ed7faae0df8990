// What the system says about this machine, for people: nothing here decides how a model runs.
// Called by the command line's doctor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sardonyx {

struct CpuCache {
  int level = 0;
  std::string type;  // "Data", "Instruction", "Unified"
  int64_t size_bytes = 0;
};

// Fields that the system does not tell are empty or 0.
struct Machine {
  std::string system;            // "Linux 6.1.0 x86_64"
  std::string cpu_name;          // "AMD EPYC"
  int cores = 0;                 // online
  std::vector<CpuCache> caches;  // of the first core
  std::string governor;          // of the clock frequency: "performance", "powersave", ...
  std::string huge_pages;        // transparent ones: "always", "madvise", "never"
  int64_t memory_bytes = 0;
  int64_t available_bytes = 0;  // of it, without swapping
};

// root: in front of /proc and /sys, for tests.
Machine read_machine(const std::string& root = "");

// Cores in this process's affinity mask; at least 1.
int cores_by_affinity();

}  // namespace sardonyx
