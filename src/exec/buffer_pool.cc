#include "exec/buffer_pool.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <utility>
#include <vector>

#include "base/fork.h"
#include "tensor/memory.h"

namespace sardonyx {
namespace {

// Smaller buffers are as cheap from malloc.
constexpr int64_t kSmallestKept = 4 * 1024;
// A block that so many allocations have passed over is of a size that is not asked for any more.
constexpr uint64_t kMostUnused = 256;

}  // namespace

int64_t with_room_to_grow(int64_t bytes) {
  const auto eighth = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bytes)) / 8);
  const int64_t rest = eighth == 0 ? 0 : bytes % eighth;
  int64_t rounded;
  if (rest == 0 || __builtin_add_overflow(bytes, eighth - rest, &rounded)) return bytes;
  return rounded;
}

struct BufferPool::Shelf {
  struct Block {
    std::shared_ptr<void> memory;
    int64_t size_bytes = 0;
    uint64_t since = 0;  // allocation
  };
  ForkMutex mutex;
  std::vector<Block> blocks;  // longest unused first
  uint64_t allocations = 0;
  // Blocks that callers hold, and the most of them at a time: since allocations was last a multiple
  // of kMostUnused, and in the stretch before. No more are worth keeping.
  size_t lent = 0, most_lent = 0, most_lent_before = 0;
  std::atomic<bool> is_empty{true};  // may be read without the lock

  size_t most_kept() const { return std::max(most_lent, most_lent_before); }

  // Under the lock: counts an allocation; `dropped` gets what has waited for too long.
  void age(std::vector<Block>& dropped) {
    if (++allocations % kMostUnused == 0) most_lent_before = std::exchange(most_lent, lent);
    while (!blocks.empty() &&
           (blocks.size() > most_kept() || allocations - blocks.front().since > kMostUnused)) {
      dropped.push_back(std::move(blocks.front()));
      blocks.erase(blocks.begin());
    }
    is_empty = blocks.empty();
  }

  // Under the lock: the block that has waited longest of those that fit; without memory when none
  // does. At most a quarter is wasted.
  Block take(int64_t bytes) {
    Block block;
    for (auto it = blocks.begin(); it != blocks.end(); ++it) {
      if (it->size_bytes < bytes || it->size_bytes - bytes > it->size_bytes / 4) continue;
      block = std::move(*it);
      blocks.erase(it);
      break;
    }
    return block;
  }

  // Not under the lock. The owner brings the block back to the shelf, where it takes the place of
  // the one that has waited longest when the shelf is full, or frees it when the shelf is gone.
  static std::shared_ptr<const void> owner_of(const std::shared_ptr<Shelf>& shelf, Block block) {
    {
      const std::lock_guard lock(shelf->mutex);
      // A block must come back without a throw, so there is room for it beforehand.
      shelf->blocks.reserve(std::max(shelf->most_kept(), shelf->lent + 1));
      shelf->most_lent = std::max(shelf->most_lent, ++shelf->lent);
    }
    void* memory = block.memory.get();
    return {memory, [home = std::weak_ptr<Shelf>(shelf), block = std::move(block)](const void*) {
              const auto shelf = home.lock();
              if (!shelf) return;
              Block dropped;  // freed without the lock
              const std::lock_guard lock(shelf->mutex);
              --shelf->lent;
              if (shelf->blocks.size() >= shelf->most_kept()) {
                dropped = std::move(shelf->blocks.front());
                shelf->blocks.erase(shelf->blocks.begin());
              }
              shelf->blocks.push_back({block.memory, block.size_bytes, shelf->allocations});
              shelf->is_empty = false;
            }};
  }
};

BufferPool::BufferPool() : shelf_(std::make_shared<Shelf>()) {}

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
  Shelf::Block block;
  {
    const std::lock_guard lock(shelf_->mutex);
    shelf_->age(dropped);
    block = shelf_->take(*bytes);
  }
  if (block.memory == nullptr) {
    block.size_bytes = with_room_to_grow(*bytes);
    block.memory = allocate_block(block.size_bytes);
    if (block.memory == nullptr) return Tensor::allocate(type, shape);  // reports the failure
  }
  void* address = block.memory.get();
  return Tensor::view(type, shape, address, Shelf::owner_of(shelf_, std::move(block)));
}

void BufferPool::trim() {
  std::vector<Shelf::Block> blocks;
  const std::lock_guard lock(shelf_->mutex);
  blocks.reserve(shelf_->most_kept());
  blocks.swap(shelf_->blocks);
  shelf_->is_empty = true;
}

}  // namespace sardonyx
