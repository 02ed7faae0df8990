#include "exec/buffer_pool.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <vector>

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
    void* memory;
    int64_t size_bytes;
    uint64_t since;  // allocation
  };
  std::mutex mutex;
  std::vector<Block> blocks;  // longest unused first
  uint64_t allocations = 0;
  std::atomic<bool> is_empty{true};  // may be read without the lock

  // Under the lock: counts an allocation and drops what has waited for too long.
  void age() {
    ++allocations;
    while (!blocks.empty() && allocations - blocks.front().since > kMostUnused) {
      std::free(blocks.front().memory);
      blocks.erase(blocks.begin());
    }
    is_empty = blocks.empty();
  }

  // Brings the block back to the shelf, or frees it when the shelf is full or gone.
  static std::shared_ptr<const void> owner_of(const std::shared_ptr<Shelf>& shelf, Block block) {
    return {block.memory, [home = std::weak_ptr<Shelf>(shelf), block](const void*) {
              if (const auto shelf = home.lock()) {
                const std::lock_guard<std::mutex> lock(shelf->mutex);
                if (shelf->blocks.size() < kMostKept) {
                  shelf->blocks.push_back({block.memory, block.size_bytes, shelf->allocations});
                  shelf->is_empty = false;
                  return;
                }
              }
              std::free(block.memory);
            }};
  }

  ~Shelf() {
    for (const Block& block : blocks) std::free(block.memory);
  }
};

BufferPool::BufferPool() : shelf_(std::make_shared<Shelf>()) {}

Tensor BufferPool::allocate(DataType type, const Shape& shape) {
  const std::optional<int64_t> count = checked_element_count(shape);
  const std::optional<int64_t> bytes = count ? storage_bytes(type, *count) : std::nullopt;
  if (!bytes || *bytes < kSmallestKept || type == DataType::kString) {
    if (!shelf_->is_empty.load(std::memory_order_relaxed)) {
      const std::lock_guard<std::mutex> lock(shelf_->mutex);
      shelf_->age();
    }
    return Tensor::allocate(type, shape);
  }
  {
    const std::lock_guard<std::mutex> lock(shelf_->mutex);
    shelf_->age();
    auto& blocks = shelf_->blocks;
    for (auto it = blocks.begin(); it != blocks.end(); ++it) {
      // At most a quarter is wasted.
      if (it->size_bytes < *bytes || it->size_bytes - *bytes > it->size_bytes / 4) continue;
      const Shelf::Block block = *it;
      blocks.erase(it);
      return Tensor::view(type, shape, block.memory, Shelf::owner_of(shelf_, block));
    }
  }
  const int64_t rounded = round_size(*bytes);
  void* memory = std::aligned_alloc(kTensorAlignment, static_cast<size_t>(rounded));
  if (memory == nullptr) return Tensor::allocate(type, shape);  // reports the failure
  return Tensor::view(type, shape, memory, Shelf::owner_of(shelf_, {memory, rounded, 0}));
}

}  // namespace sardonyx
