#include "exec/buffer_pool.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace sardonyx {
namespace {

// Smaller buffers are as cheap from malloc.
constexpr int64_t kSmallestKept = 64 * 1024;
constexpr size_t kMostKept = 8;

}  // namespace

struct BufferPool::Shelf {
  struct Block {
    void* memory;
    int64_t size_bytes;
  };
  std::mutex mutex;
  std::vector<Block> blocks;

  // Brings the block back to the shelf, or frees it when the shelf is full or gone.
  static std::shared_ptr<const void> owner_of(const std::shared_ptr<Shelf>& shelf, Block block) {
    return {block.memory, [home = std::weak_ptr<Shelf>(shelf), block](const void*) {
              if (const auto shelf = home.lock()) {
                const std::lock_guard<std::mutex> lock(shelf->mutex);
                if (shelf->blocks.size() < kMostKept) {
                  shelf->blocks.push_back(block);
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
    return Tensor::allocate(type, shape);
  }
  {
    const std::lock_guard<std::mutex> lock(shelf_->mutex);
    auto& blocks = shelf_->blocks;
    for (auto it = blocks.begin(); it != blocks.end(); ++it) {
      // At most a quarter is wasted.
      if (it->size_bytes < *bytes || it->size_bytes - *bytes > it->size_bytes / 4) continue;
      const Shelf::Block block = *it;
      blocks.erase(it);
      return Tensor::view(type, shape, block.memory, Shelf::owner_of(shelf_, block));
    }
  }
  const auto align = static_cast<int64_t>(kTensorAlignment);
  const int64_t rounded = (*bytes + align - 1) / align * align;
  void* memory = std::aligned_alloc(kTensorAlignment, static_cast<size_t>(rounded));
  if (memory == nullptr) return Tensor::allocate(type, shape);  // reports the failure
  return Tensor::view(type, shape, memory, Shelf::owner_of(shelf_, {memory, rounded}));
}

}  // namespace sardonyx
