#include "base/heap.h"

#include <sys/sysinfo.h>

#include <cstdlib>
#include <limits>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace sardonyx {

void trim_heap() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

int64_t memory_and_swap_bytes() {
  struct sysinfo info {};
  if (sysinfo(&info) != 0) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>((info.totalram + info.totalswap) * info.mem_unit);
}

}  // namespace sardonyx
