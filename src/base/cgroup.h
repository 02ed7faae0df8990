// Limits that control groups (cgroups, versions 1 and 2) put on this process, as containers do.
// Each is the least along the way from the process's own group up to the root. `root` is put in
// front of /proc and /sys: for tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sardonyx {

// CPU time per time: 1.5 is one and a half cores. nullopt: no limit that could be read.
std::optional<double> cgroup_cpu_cores(const std::string& root = "");

// Bytes of memory. nullopt: no limit that could be read.
std::optional<int64_t> cgroup_memory_bytes(const std::string& root = "");

}  // namespace sardonyx
