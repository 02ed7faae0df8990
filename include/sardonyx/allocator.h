// Allocator: where a Session gets the memory of its weights, arenas and outputs when the
// application wants to supply it. Given in Options; by default memory comes from the C library.
#pragma once

#include <cstddef>

#include "sardonyx/export.h"

namespace sardonyx {

// The functions are called by several threads at once, also by threads that are not the Session's:
// an output is freed where its last Value goes, which may be after the Session. They must not
// throw. Strings and small bookkeeping still come from the C++ runtime.
class SARDONYX_API Allocator {
 public:
  virtual ~Allocator() = default;

  // size_bytes: a multiple of 64, never 0. Returns memory aligned to 64 bytes, which need not be
  // zeroed, or null when there is none: the create or Run that asked then fails with
  // Error(kFail), which says how much was wanted, and the Session stays usable.
  virtual void* allocate(size_t size_bytes) noexcept = 0;

  // memory: what allocate(size_bytes) gave.
  virtual void free(void* memory, size_t size_bytes) noexcept = 0;
};

}  // namespace sardonyx
