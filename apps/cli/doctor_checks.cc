#include "doctor_checks.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "base/cgroup.h"
#include "base/cpu.h"
#include "base/extras.h"
#include "base/machine.h"
#include "base/thread_pool.h"
#include "doctor_trial.h"
#include "sardonyx/session.h"
#include "session/build_info.h"
#include "session/log.h"
#include "text.h"

namespace sardonyx::cli {
namespace {

namespace fs = std::filesystem;
using Status = Finding::Status;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Finding check_version(const BuildInfo& build) {
  Finding finding;
  finding.name = "version";
  finding.text = fmt::format("{}; {} operators", build.version, build.operators);
  for (const auto& [domain, opset] : build.newest_opsets) {
    finding.text += fmt::format(", {} up to opset {}", domain, opset);
  }
  finding.text += fmt::format("; IR versions up to {}", newest_ir_version());
  finding.facts = {{"version", build.version},
                   {"operators", build.operators},
                   {"newest_ir_version", newest_ir_version()},
                   {"newest_opsets", build.newest_opsets}};
  return finding;
}

Finding check_build(const BuildInfo& build) {
  Finding finding;
  finding.name = "build";
  finding.text = fmt::format("{}, {}", build.compiler, build.flags);
  finding.facts = {{"compiler", build.compiler},
                   {"flags", build.flags},
                   {"optimised", build.is_optimised},
                   {"sanitized", build.is_sanitized}};
  if (!build.is_optimised) {
    finding.complain(Status::kWarning, "this build is not optimised: make build makes one");
  }
  if (build.is_sanitized) {
    finding.complain(Status::kWarning, "this build has sanitizers, for tests: it is slow");
  }
  return finding;
}

Finding check_kernels(const BuildInfo& build) {
  Finding finding;
  finding.name = "kernels";
  std::vector<std::string> rows;
  for (const Isa isa : build.rows) rows.emplace_back(to_string(isa));
  const Isa offered = detected_isa();
  const std::string cap = variable("SARDONYX_MAX_ISA");
  finding.facts = {{"rows", rows}, {"cpu", to_string(offered)}, {"max_isa", cap}};
  Isa allowed = offered;
  try {
    allowed = best_isa();
  } catch (const Error& error) {
    finding.complain(Status::kBroken, error.what());
  }
  Isa used = Isa::kBaseline;
  for (const Isa row : build.rows) {
    if (row <= allowed) used = row;
  }
  finding.facts["used"] = to_string(used);
  finding.text = fmt::format("built for {}; this CPU offers {}; used: {}", fmt::join(rows, ", "),
                             to_string(offered), to_string(used));
  if (allowed < offered) {
    finding.complain(
        Status::kWarning,
        fmt::format("SARDONYX_MAX_ISA={} holds it back: unset it for full speed", cap));
  } else if (used < allowed) {
    finding.complain(Status::kWarning, "build with every row: PRESET=native leaves some out");
  }
  return finding;
}

Finding check_cpu(const Machine& machine) {
  Finding finding;
  finding.name = "cpu";
  finding.text = machine.cpu_name.empty() ? "the system does not name it" : machine.cpu_name;
  finding.text += fmt::format(" ({})", machine.system);
  finding.facts = {{"name", machine.cpu_name}, {"system", machine.system}};
  finding.facts["caches"] = nlohmann::ordered_json::array();
  for (const CpuCache& cache : machine.caches) {
    finding.text +=
        fmt::format(", L{} {} {}", cache.level, cache.type, byte_text(cache.size_bytes));
    finding.facts["caches"].push_back(
        {{"level", cache.level}, {"type", cache.type}, {"bytes", cache.size_bytes}});
  }
  finding.facts["governor"] = machine.governor;
  if (machine.governor == "powersave") {
    finding.complain(Status::kWarning,
                     "the clock frequency follows the load (governor powersave): times vary");
  }
  return finding;
}

Finding check_cores(const Machine& machine) {
  Finding finding;
  finding.name = "cores";
  const int by_affinity = cores_by_affinity(), allowed = allowed_cores();
  const std::optional<double> quota = cgroup_cpu_cores();
  finding.text =
      fmt::format("{} present, {} by affinity, cgroup quota {}; a run uses {} thread{}",
                  machine.cores, by_affinity, quota ? fmt::format("{:.2f}", *quota) : "none",
                  allowed, allowed == 1 ? "" : "s");
  finding.facts = {{"present", machine.cores}, {"affinity", by_affinity}};
  finding.facts["quota"] = quota ? nlohmann::ordered_json(*quota) : nlohmann::ordered_json(nullptr);
  finding.facts["used"] = allowed;
  if (quota && *quota < by_affinity && *quota != std::floor(*quota)) {
    finding.complain(Status::kWarning,
                     fmt::format("the quota is no whole number of cores, so that {} threads are "
                                 "stopped at times: --threads {} is steadier",
                                 allowed, std::max(1, static_cast<int>(*quota))));
  }
  return finding;
}

Finding check_memory(const Machine& machine) {
  constexpr int64_t kLittle = int64_t{256} << 20;
  Finding finding;
  finding.name = "memory";
  const std::optional<int64_t> limit = cgroup_memory_bytes();
  finding.text = fmt::format("{}, {} available, cgroup limit {}; transparent huge pages {}",
                             byte_text(machine.memory_bytes), byte_text(machine.available_bytes),
                             limit ? byte_text(*limit) : "none",
                             machine.huge_pages.empty() ? "not shown" : machine.huge_pages);
  finding.facts = {{"bytes", machine.memory_bytes}, {"available_bytes", machine.available_bytes}};
  finding.facts["limit_bytes"] =
      limit ? nlohmann::ordered_json(*limit) : nlohmann::ordered_json(nullptr);
  finding.facts["huge_pages"] = machine.huge_pages;
  const int64_t usable = std::min(machine.available_bytes, limit.value_or(machine.available_bytes));
  if (machine.memory_bytes > 0 && usable < kLittle) {
    finding.complain(Status::kWarning, "little memory: larger models will not load");
  }
  return finding;
}

Finding check_log_level() {
  Finding finding;
  finding.name = "log";
  const std::string set = variable("SARDONYX_LOG_LEVEL");
  finding.facts = {{"variable", set}};
  try {
    const LogLevel level = log_level_of(Options{});
    finding.text =
        fmt::format("level {}{}", to_string(level), set.empty() ? "" : ", by SARDONYX_LOG_LEVEL");
    finding.facts["level"] = to_string(level);
  } catch (const Error& error) {
    finding.text = "no level";
    finding.complain(Status::kBroken, error.what());
  }
  return finding;
}

Finding check_extras() {
  Finding finding;
  finding.name = "extras";
  try {
    Dl_info info = {};
    dladdr(reinterpret_cast<void*>(extras().image_info), &info);
    const std::string path = info.dli_fname == nullptr ? "" : info.dli_fname;
    finding.text = fmt::format("pictures are read by {}", path);
    finding.facts = {{"found", true}, {"path", path}};
  } catch (const Error& error) {
    finding.text = "pictures cannot be read";
    finding.facts = {{"found", false}};
    // A library that was named must be there; without one, only pictures are missing.
    finding.complain(variable("SARDONYX_EXTRAS").empty() ? Status::kWarning : Status::kBroken,
                     error.what());
  }
  return finding;
}

// XDG_CACHE_HOME/sardonyx, or .cache/sardonyx at home; empty without a home.
fs::path cache_folder() {
  const std::string base = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (fs::path(base).is_absolute()) return fs::path(base) / "sardonyx";
  return home.empty() ? fs::path() : fs::path(home) / ".cache" / "sardonyx";
}

// The folder, or the nearest one above it that exists.
fs::path existing_part(fs::path folder) {
  std::error_code ignored;
  while (folder.has_relative_path() && !fs::exists(folder, ignored)) folder = folder.parent_path();
  return folder;
}

Finding check_cache_folder() {
  Finding finding;
  finding.name = "cache";
  const fs::path folder = cache_folder();
  if (folder.empty()) {
    finding.text = "no folder: neither XDG_CACHE_HOME nor HOME is set";
    finding.facts = {{"path", nullptr}};
    finding.complain(Status::kWarning, "set XDG_CACHE_HOME to a folder that can be written");
    return finding;
  }
  const fs::path there = existing_part(folder);
  const bool exists = there == folder;
  const bool is_writable = access(there.c_str(), W_OK | X_OK) == 0;
  struct stat info = {};
  stat(there.c_str(), &info);
  const std::string mode = exists ? fmt::format("{:04o}", info.st_mode & 07777) : "";
  finding.text =
      fmt::format("{}: {}{}", folder.string(), exists ? "mode " + mode : "does not exist yet",
                  is_writable ? "" : ", cannot be written");
  finding.facts = {{"path", folder.string()},
                   {"exists", exists},
                   {"writable", is_writable},
                   {"mode", mode},
                   {"used", false}};
  finding.text += "; this version keeps no cache yet, so nothing is written there";
  if (!is_writable || (exists && !S_ISDIR(info.st_mode))) {
    finding.complain(Status::kWarning,
                     fmt::format("make {} a folder that this user can write", there.string()));
  } else if (exists && (info.st_mode & S_IWOTH) != 0) {
    finding.complain(Status::kWarning,
                     fmt::format("others can write there: chmod 700 {}", folder.string()));
  }
  return finding;
}

}  // namespace

void Finding::complain(Status worse, const std::string& what_to_do) {
  status = std::max(status, worse);
  if (!advice.empty()) advice += "; ";
  advice += what_to_do;
}

const char* to_string(Finding::Status status) {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kWarning:
      return "warning";
    case Status::kBroken:
      return "broken";
  }
  return "?";
}

std::vector<Finding> run_checks() {
  const BuildInfo build = build_info();
  const Machine machine = read_machine();
  return {check_version(build), check_build(build),   check_kernels(build),
          check_cpu(machine),   check_cores(machine), check_memory(machine),
          check_log_level(),    check_extras(),       check_cache_folder(),
          run_trial()};
}

}  // namespace sardonyx::cli
