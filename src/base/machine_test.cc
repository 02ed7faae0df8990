#include "base/machine.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/cgroup.h"
#include "base/thread_pool.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

// A folder with a /proc and a /sys of its own.
class FakeRoot {
 public:
  FakeRoot() {
    std::string name = (fs::temp_directory_path() / "sardonyx_machine_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  ~FakeRoot() { fs::remove_all(path_); }
  FakeRoot& write(const std::string& file, const std::string& text) {
    const fs::path path = path_ + file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return *this;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Cgroup, NoGroupsAreNoLimits) {
  const FakeRoot root;
  EXPECT_EQ(cgroup_cpu_cores(root.path()), std::nullopt);
  EXPECT_EQ(cgroup_memory_bytes(root.path()), std::nullopt);
}

TEST(Cgroup, VersionTwoTakesTheLeastUpToTheRoot) {
  FakeRoot root;
  root.write("/proc/self/cgroup", "0::/outer/inner\n")
      .write("/sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n")
      .write("/sys/fs/cgroup/outer/cpu.max", "150000 100000\n")
      .write("/sys/fs/cgroup/outer/inner/memory.max", "4096000\n")
      .write("/sys/fs/cgroup/outer/memory.max", "max\n")
      .write("/sys/fs/cgroup/memory.max", "8192000\n");
  EXPECT_EQ(cgroup_cpu_cores(root.path()), 1.5);
  EXPECT_EQ(cgroup_memory_bytes(root.path()), 4096000);
}

TEST(Cgroup, VersionTwoInAContainerSeesItsMountOnly) {
  FakeRoot root;
  root.write("/proc/self/cgroup", "0::/\n").write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(cgroup_cpu_cores(root.path()), 0.5);
}

TEST(Cgroup, VersionOne) {
  FakeRoot root;
  root.write("/proc/self/cgroup", "4:memory:/job\n3:cpuset:/\n2:cpu,cpuacct:/job\nbroken\n0::/\n")
      .write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n")
      .write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n")
      .write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000\n")
      .write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n")
      .write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1048576\n")
      .write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(cgroup_cpu_cores(root.path()), 3.0);
  EXPECT_EQ(cgroup_memory_bytes(root.path()), 1048576);
}

TEST(Cgroup, NonsenseIsNoLimit) {
  FakeRoot root;
  root.write("/proc/self/cgroup", "0::/a\n")
      .write("/sys/fs/cgroup/a/cpu.max", "many 0\n")
      .write("/sys/fs/cgroup/cpu.max", "100000 0\n")
      .write("/sys/fs/cgroup/a/memory.max", "99999999999999999999999\n");
  EXPECT_EQ(cgroup_cpu_cores(root.path()), std::nullopt);
  EXPECT_EQ(cgroup_memory_bytes(root.path()), std::nullopt);
}

TEST(Machine, ReadsWhatTheSystemShows) {
  FakeRoot root;
  root.write("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n")
      .write("/proc/meminfo", "MemTotal:       2048 kB\nMemFree: 1 kB\nMemAvailable:   1024 kB\n")
      .write("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n")
      .write("/sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n")
      .write("/sys/devices/system/cpu/cpu0/cache/index0/level", "1\n")
      .write("/sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n")
      .write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  const Machine machine = read_machine(root.path());
  EXPECT_EQ(machine.cpu_name, "Some CPU @ 2 GHz");
  EXPECT_EQ(machine.memory_bytes, 2048 * 1024);
  EXPECT_EQ(machine.available_bytes, 1024 * 1024);
  EXPECT_EQ(machine.huge_pages, "madvise");
  EXPECT_EQ(machine.governor, "powersave");
  ASSERT_EQ(machine.caches.size(), 1u);
  EXPECT_EQ(machine.caches[0].level, 1);
  EXPECT_EQ(machine.caches[0].type, "Data");
  EXPECT_EQ(machine.caches[0].size_bytes, 32 * 1024);
}

TEST(Machine, AnEmptySystemIsNoError) {
  const FakeRoot root;
  const Machine machine = read_machine(root.path());
  EXPECT_EQ(machine.cpu_name, "");
  EXPECT_TRUE(machine.caches.empty());
  EXPECT_EQ(machine.memory_bytes, 0);
}

TEST(Machine, AllowedCoresAreNoMoreThanTheAffinityAllows) {
  EXPECT_GE(cores_by_affinity(), 1);
  EXPECT_LE(allowed_cores(), cores_by_affinity());
  EXPECT_LE(cores_by_affinity(), read_machine().cores);
}

}  // namespace
}  // namespace sardonyx
