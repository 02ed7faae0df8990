// Blocks of memory for tensors and arenas. They come from the C library or, inside a MemoryScope,
// from the application's Allocator, which a block keeps alive. A Session opens a scope around its
// create and around every Run; memory is only allocated on the thread that called it.
#pragma once

#include <cstdint>
#include <memory>

#include "sardonyx/allocator.h"

namespace sardonyx {

// Aligned to kTensorAlignment. size_bytes >= 0; contents are not initialised. Null when there is no
// memory. Throws Error(kFail) when the application's allocator breaks its contract, std::bad_alloc
// when there is no memory for bookkeeping.
std::shared_ptr<void> allocate_block(int64_t size_bytes);

// No block can be larger: the machine's memory and swap space, in bytes. An application's allocator
// has no such bound.
int64_t most_block_bytes();

class MemoryScope {
 public:
  // Until the scope ends, this thread's blocks come from `allocator` (null: the C library), which
  // must outlive the scope.
  explicit MemoryScope(const std::shared_ptr<Allocator>& allocator);
  ~MemoryScope();
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;

 private:
  const std::shared_ptr<Allocator>* outer_;
};

}  // namespace sardonyx
