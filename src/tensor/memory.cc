#include "tensor/memory.h"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <utility>

#include "base/heap.h"
#include "sardonyx/error.h"
#include "tensor/tensor.h"

namespace sardonyx {
namespace {

thread_local const std::shared_ptr<Allocator>* current = nullptr;
thread_local const std::shared_ptr<MemoryBudget>* current_budget = nullptr;

// Without the budget.
std::shared_ptr<void> allocate(size_t rounded) {
  // The constructors of shared_ptr free the memory when they throw.
  if (has_plain_memory()) {
    void* memory = std::aligned_alloc(kTensorAlignment, rounded);
    if (memory == nullptr) return nullptr;
    return std::shared_ptr<void>(memory, [](void* p) { std::free(p); });
  }
  void* memory = (*current)->allocate(rounded);
  if (memory == nullptr) return nullptr;
  std::shared_ptr<void> block(
      memory, [allocator = *current, rounded](void* p) { allocator->free(p, rounded); });
  if (reinterpret_cast<uintptr_t>(memory) % kTensorAlignment != 0) {
    throw Error(ErrorCode::kFail,
                fmt::format("the application's allocator returned memory at {}, which is not "
                            "aligned to {} bytes",
                            memory, kTensorAlignment));
  }
  return block;
}

}  // namespace

MemoryScope::MemoryScope(const std::shared_ptr<Allocator>& allocator) : outer_(current) {
  current = &allocator;
}

MemoryScope::~MemoryScope() { current = outer_; }

bool has_plain_memory() { return current == nullptr || *current == nullptr; }

std::shared_ptr<void> allocate_block(int64_t size_bytes) {
  const auto size = static_cast<size_t>(size_bytes);
  const size_t rounded = size == 0
                             ? kTensorAlignment
                             : (size + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
  MemoryCharge charge = MemoryCharge::on_current(size_bytes);
  return std::move(charge).with(allocate(rounded));
}

int64_t most_block_bytes() {
  if (!has_plain_memory()) return std::numeric_limits<int64_t>::max();
  static const int64_t bytes = memory_and_swap_bytes();
  return bytes;
}

std::shared_ptr<MemoryBudget> MemoryBudget::current() {
  return current_budget == nullptr ? nullptr : *current_budget;
}

BudgetScope::BudgetScope(const std::shared_ptr<MemoryBudget>& budget) : outer_(current_budget) {
  current_budget = &budget;
}

BudgetScope::~BudgetScope() { current_budget = outer_; }

MemoryCharge::MemoryCharge(std::shared_ptr<MemoryBudget> budget, int64_t size_bytes)
    : budget_(std::move(budget)), size_bytes_(size_bytes) {
  if (budget_ != nullptr) budget_->add(size_bytes_);
}

MemoryCharge MemoryCharge::on_current(int64_t size_bytes) {
  std::shared_ptr<MemoryBudget> budget = MemoryBudget::current();
  if (budget != nullptr && !budget->allows(size_bytes)) {
    throw Error(ErrorCode::kFail,
                fmt::format("the run holds {} bytes and wants {} more, the memory limit is {}; "
                            "raise memory_limit_bytes or use smaller inputs",
                            budget->used(), size_bytes, budget->limit()));
  }
  return MemoryCharge(std::move(budget), size_bytes);
}

MemoryCharge::~MemoryCharge() {
  if (budget_ != nullptr) budget_->add(-size_bytes_);
}

std::shared_ptr<void> MemoryCharge::with(std::shared_ptr<void> block) && {
  if (budget_ == nullptr || block == nullptr) return block;
  struct Held {
    MemoryCharge charge;
    std::shared_ptr<void> block;
  };
  void* memory = block.get();
  return {std::make_shared<Held>(std::move(*this), std::move(block)), memory};
}

}  // namespace sardonyx
