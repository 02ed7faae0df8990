#include <algorithm>
#include <cmath>

#include "base/cgroup.h"
#include "base/machine.h"
#include "base/thread_pool.h"

namespace sardonyx {

int allowed_cores() {
  const int cores = cores_by_affinity();
  const std::optional<double> quota = cgroup_cpu_cores();
  if (!quota || *quota >= cores) return cores;
  return std::max(1, static_cast<int>(std::ceil(*quota)));
}

}  // namespace sardonyx
