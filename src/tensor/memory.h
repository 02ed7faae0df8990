// Blocks of memory for tensors and arenas. They come from the C library or, inside a MemoryScope,
// from the application's Allocator, which a block keeps alive. A Session opens a scope around its
// create and around every Run; memory is only allocated on the thread that called it. What a Run
// with a memory limit allocates on its way counts on its MemoryBudget.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "sardonyx/allocator.h"

namespace sardonyx {

// Aligned to kTensorAlignment. size_bytes >= 0; contents are not initialised. Null when there is no
// memory. Throws Error(kFail) when the application's allocator breaks its contract or the thread's
// budget does not allow it, std::bad_alloc when there is no memory for bookkeeping.
std::shared_ptr<void> allocate_block(int64_t size_bytes);

// Whether this thread's blocks come from the C library, not from an application's allocator.
bool has_plain_memory();

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

// Bytes that one Run holds, of those that it may hold.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t limit_bytes) : limit_(limit_bytes) {}

  int64_t limit() const { return limit_; }
  int64_t used() const { return used_.load(std::memory_order_relaxed); }
  bool allows(int64_t size_bytes) const { return size_bytes <= limit_ - used(); }
  void add(int64_t size_bytes) { used_.fetch_add(size_bytes, std::memory_order_relaxed); }

  // That of this thread; null: nothing counts.
  static std::shared_ptr<MemoryBudget> current();

 private:
  const int64_t limit_;
  std::atomic<int64_t> used_{0};
};

class BudgetScope {
 public:
  // Until the scope ends, what this thread allocates counts on `budget` (null: on none), which must
  // outlive the scope; it counts until it is freed.
  explicit BudgetScope(const std::shared_ptr<MemoryBudget>& budget);
  ~BudgetScope();
  BudgetScope(const BudgetScope&) = delete;
  BudgetScope& operator=(const BudgetScope&) = delete;

 private:
  const std::shared_ptr<MemoryBudget>* outer_;
};

// Bytes that count on a budget (null: on none) as long as this object lives.
class MemoryCharge {
 public:
  MemoryCharge(std::shared_ptr<MemoryBudget> budget, int64_t size_bytes);
  // On the thread's budget, before the bytes are allocated. Throws Error(kFail) when it does not
  // allow them.
  static MemoryCharge on_current(int64_t size_bytes);
  MemoryCharge(MemoryCharge&&) noexcept = default;
  MemoryCharge& operator=(MemoryCharge&&) = delete;
  ~MemoryCharge();

  // The block, with which the charge goes.
  std::shared_ptr<void> with(std::shared_ptr<void> block) &&;

 private:
  std::shared_ptr<MemoryBudget> budget_;
  int64_t size_bytes_ = 0;
};

}  // namespace sardonyx
