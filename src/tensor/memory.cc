#include "tensor/memory.h"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>

#include "base/heap.h"
#include "sardonyx/error.h"
#include "tensor/tensor.h"

namespace sardonyx {
namespace {

thread_local const std::shared_ptr<Allocator>* current = nullptr;

}  // namespace

MemoryScope::MemoryScope(const std::shared_ptr<Allocator>& allocator) : outer_(current) {
  current = &allocator;
}

MemoryScope::~MemoryScope() { current = outer_; }

std::shared_ptr<void> allocate_block(int64_t size_bytes) {
  const auto size = static_cast<size_t>(size_bytes);
  const size_t rounded = size == 0
                             ? kTensorAlignment
                             : (size + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
  // The constructors of shared_ptr free the memory when they throw.
  if (current == nullptr || *current == nullptr) {
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

int64_t most_block_bytes() {
  if (current != nullptr && *current != nullptr) return std::numeric_limits<int64_t>::max();
  static const int64_t bytes = memory_and_swap_bytes();
  return bytes;
}

}  // namespace sardonyx
