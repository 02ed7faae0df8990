#include "base/cgroup.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

struct QuotaCase {
  const char* name;
  std::map<std::string, std::string> files;  // below the root
  double cores;                              // 0: no quota
};

void PrintTo(const QuotaCase& each, std::ostream* out) { *out << each.name; }

class CpuQuotaTest : public ::testing::TestWithParam<QuotaCase> {};

TEST_P(CpuQuotaTest, IsRead) {
  std::string name = (fs::temp_directory_path() / "sardonyx_XXXXXX").string();
  const fs::path root = ::mkdtemp(name.data());
  for (const auto& [file, text] : GetParam().files) {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }
  EXPECT_DOUBLE_EQ(cgroup_cpu_cores(root.string()).value_or(0), GetParam().cores);
  fs::remove_all(root);
}

const QuotaCase kQuotaCases[] = {
    {"NoCgroups", {}, 0},
    {"V2OneCore",
     {{"proc/self/cgroup", "0::/app\n"}, {"sys/fs/cgroup/app/cpu.max", "100000 100000\n"}},
     1},
    {"V2Unlimited",
     {{"proc/self/cgroup", "0::/app\n"}, {"sys/fs/cgroup/app/cpu.max", "max 100000\n"}},
     0},
    {"V2LeastOfAllLevels",
     {{"proc/self/cgroup", "0::/a/b/c\n"},
      {"sys/fs/cgroup/a/cpu.max", "150000 100000\n"},
      {"sys/fs/cgroup/a/b/cpu.max", "max 100000\n"},
      {"sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n"}},
     1.5},
    // In a container the path may be that of the host, which is not to be seen from inside.
    {"V2PathOfTheHost",
     {{"proc/self/cgroup", "0::/docker/0123abcd\n"}, {"sys/fs/cgroup/cpu.max", "50000 100000\n"}},
     0.5},
    {"V2PathOutsideOfTheNamespace",
     {{"proc/self/cgroup", "0::/../../other\n"}, {"sys/fs/cgroup/cpu.max", "200000 100000\n"}},
     2},
    {"V1",
     {{"proc/self/cgroup", "4:memory:/x\n3:cpu:/app\n1:name=systemd:/\n"},
      {"sys/fs/cgroup/cpu/app/cpu.cfs_quota_us", "100000\n"},
      {"sys/fs/cgroup/cpu/app/cpu.cfs_period_us", "100000\n"}},
     1},
    {"V1OfSeveralControllers",
     {{"proc/self/cgroup", "3:cpu,cpuacct:/\n"},
      {"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "25000\n"},
      {"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "10000\n"}},
     2.5},
    {"V1Unlimited",
     {{"proc/self/cgroup", "3:cpu:/\n"},
      {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
      {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}},
     0},
    {"CpuacctAndCpusetSayNothing",
     {{"proc/self/cgroup", "3:cpuset:/a\n2:cpuacct:/a\n"},
      {"sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "100000\n"},
      {"sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"}},
     0},
    {"BothVersions",
     {{"proc/self/cgroup", "3:cpu:/a\n0::/b\n"},
      {"sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "300000\n"},
      {"sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"},
      {"sys/fs/cgroup/unified/b/cpu.max", "200000 100000\n"}},
     2},
    {"Nonsense",
     {{"proc/self/cgroup", "\n:\n::\n0::/a\n3:cpu:/b\n"},
      {"sys/fs/cgroup/a/cpu.max", "many few\n"},
      {"sys/fs/cgroup/cpu/b/cpu.cfs_quota_us", "100000\n"},
      {"sys/fs/cgroup/cpu/b/cpu.cfs_period_us", "0\n"}},
     0},
    {"EmptyFiles", {{"proc/self/cgroup", "0::/a\n"}, {"sys/fs/cgroup/a/cpu.max", ""}}, 0},
};
INSTANTIATE_TEST_SUITE_P(CpuQuota, CpuQuotaTest, ::testing::ValuesIn(kQuotaCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace sardonyx
