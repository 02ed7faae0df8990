#include "exec/buffer_pool.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <vector>

#include "base/fork.h"
#include "tensor/memory.h"

namespace sardonyx {
namespace {

// Smaller buffers are as cheap from malloc.
constexpr int64_t kSmallestKept = 64 * 1024;
constexpr size_t kMostKept = 8;
// A block that so many allocations have passed over is of a size that is not asked for any more.
constexpr uint64_t kMostUnused = 256;

// An output that grows a little from Run to Run finds the block of the last one large enough.
int64_t round_size(int64_t bytes) {
  const auto step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bytes)) / 8);
  return (bytes + step - 1) / step * step;
}

}  // namespace

struct BufferPool::Shelf {
  struct Block {
    std::shared_ptr<void> memory;
    int64_t size_bytes;
    uint64_t since;  // allocation
  };
  ForkMutex mutex;
  std::vector<Block> blocks;  // longest unused first
  uint64_t allocations = 0;
  std::atomic<bool> is_empty{true};  // may be read without the lock

  // Under the lock: counts an allocation; `dropped` gets what has waited for too long.
  void age(std::vector<Block>& dropped) {
    ++allocations;
    while (!blocks.empty() && allocations - blocks.front().since > kMostUnused) {
      dropped.push_back(std::move(blocks.front()));
      blocks.erase(blocks.begin());
    }
    is_empty = blocks.empty();
  }

  // Brings the block back to the shelf, or frees it when the shelf is full or gone.
  static std::shared_ptr<const void> owner_of(const std::shared_ptr<Shelf>& shelf, Block block) {
    void* memory = block.memory.get();
    return {memory, [home = std::weak_ptr<Shelf>(shelf), block = std::move(block)](const void*) {
              const auto shelf = home.lock();
              if (!shelf) return;
              const std::lock_guard lock(shelf->mutex);
              if (shelf->blocks.size() >= kMostKept) return;
              shelf->blocks.push_back({block.memory, block.size_bytes, shelf->allocations});
              shelf->is_empty = false;
            }};
  }
};

BufferPool::BufferPool() : shelf_(std::make_shared<Shelf>()) {
  shelf_->blocks.reserve(kMostKept);  // a block must come back without a throw
}

Tensor BufferPool::allocate(DataType type, const Shape& shape) {
  const std::optional<int64_t> count = checked_element_count(shape);
  const std::optional<int64_t> bytes = count ? storage_bytes(type, *count) : std::nullopt;
  std::vector<Shelf::Block> dropped;  // freed without the lock
  if (!bytes || *bytes < kSmallestKept || type == DataType::kString) {
    if (!shelf_->is_empty.load(std::memory_order_relaxed)) {
      const std::lock_guard lock(shelf_->mutex);
      shelf_->age(dropped);
    }
    return Tensor::allocate(type, shape);
  }
  {
    const std::lock_guard lock(shelf_->mutex);
    shelf_->age(dropped);
    auto& blocks = shelf_->blocks;
    for (auto it = blocks.begin(); it != blocks.end(); ++it) {
      // At most a quarter is wasted.
      if (it->size_bytes < *bytes || it->size_bytes - *bytes > it->size_bytes / 4) continue;
      Shelf::Block block = std::move(*it);
      blocks.erase(it);
      void* memory = block.memory.get();
      return Tensor::view(type, shape, memory, Shelf::owner_of(shelf_, std::move(block)));
    }
  }
  const int64_t rounded = round_size(*bytes);
  std::shared_ptr<void> memory = allocate_block(rounded);
  if (memory == nullptr) return Tensor::allocate(type, shape);  // reports the failure
  void* address = memory.get();
  return Tensor::view(type, shape, address,
                      Shelf::owner_of(shelf_, {std::move(memory), rounded, 0}));
}

void BufferPool::trim() {
  std::vector<Shelf::Block> blocks;
  blocks.reserve(kMostKept);
  const std::lock_guard lock(shelf_->mutex);
  blocks.swap(shelf_->blocks);
  shelf_->is_empty = true;
}

}  // namespace sardonyx
