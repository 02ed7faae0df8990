#include "exec/buffer_pool.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "base/fork.h"
#include "exec/growing_memory.h"

namespace sardonyx {
namespace {

// Smaller buffers are as cheap from malloc.
constexpr int64_t kSmallestKept = 2 * 1024;
// A block that so many allocations have passed over is of a size that is not asked for any more.
constexpr uint64_t kMostUnused = 256;

}  // namespace

struct BufferPool::Shelf {
  struct Block {
    GrowingMemory memory;
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

  // Under the lock: the block that has waited longest of those that fit, of which at most a quarter
  // is wasted. Otherwise the largest that grows without a copy, to no more than twice what it was.
  // Otherwise an empty one.
  Block take(int64_t bytes) {
    auto best = blocks.end();
    for (auto it = blocks.begin(); it != blocks.end(); ++it) {
      const int64_t size = it->memory.size_bytes();
      if (size >= bytes && size - bytes <= size / 4) {
        best = it;
        break;
      }
      if (size >= bytes || size < bytes / 2 || !it->memory.keeps_pages()) continue;
      if (best == blocks.end() || size > best->memory.size_bytes()) best = it;
    }
    if (best == blocks.end()) return {};
    Block block = std::move(*best);
    blocks.erase(best);
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
    void* memory = block.memory.data();
    return {memory,
            [home = std::weak_ptr<Shelf>(shelf), block = std::move(block)](const void*) mutable {
              const auto shelf = home.lock();
              if (!shelf) return;
              Block dropped;  // freed without the lock
              const std::lock_guard lock(shelf->mutex);
              --shelf->lent;
              if (shelf->blocks.size() >= shelf->most_kept()) {
                dropped = std::move(shelf->blocks.front());
                shelf->blocks.erase(shelf->blocks.begin());
              }
              block.since = shelf->allocations;
              shelf->blocks.push_back(std::move(block));
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
  if (!block.memory.grow(*bytes)) return Tensor::allocate(type, shape);  // reports the failure
  void* address = block.memory.data();
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
