#include "exec/growing_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "tensor/memory.h"

namespace sardonyx {
namespace {

// Less is as cheap from the C library.
constexpr int64_t kSmallestMapped = 4 * 1024;
// Address space costs nothing. Much of it saves moves; more than this is not wasted on any.
constexpr int64_t kLeastSpace = 256 * 1024;
constexpr int64_t kMostSpaceToSpare = 64 * 1024 * 1024;
constexpr int64_t kPage = 64 * 1024;  // the largest of the systems'; more than any offset

// Sanitizers see no write behind the end of a mapping.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMaps = false;
#else
constexpr bool kMaps = true;
#endif

// What an allocator gives is used up whether written or not: at most an eighth more.
int64_t with_room_to_grow(int64_t bytes) {
  const auto eighth = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bytes)) / 8);
  const int64_t rest = eighth == 0 ? 0 : bytes % eighth;
  int64_t rounded;
  if (rest == 0 || __builtin_add_overflow(bytes, eighth - rest, &rounded)) return bytes;
  return rounded;
}

// Where the next mapping's data begins. Blocks of one size that grow together would otherwise need
// their fresh pages in the same Run, and their rows would fall into the same sets of the cache.
// 39 is the golden section of 64: whatever number of blocks in a row are about evenly far apart.
int64_t next_offset() {
  static std::atomic<uint32_t> count{0};
  return count.fetch_add(1, std::memory_order_relaxed) * 39 % 64 * 64;
}

// 0 when there is none of that size.
int64_t space_for(int64_t bytes) {
  int64_t space;
  if (__builtin_add_overflow(bytes, std::min(bytes, kMostSpaceToSpare), &space)) return 0;
  if (__builtin_add_overflow(std::max(space, kLeastSpace), 2 * kPage - 1, &space)) return 0;
  return space / kPage * kPage;
}

}  // namespace

GrowingMemory::~GrowingMemory() {
  if (mapping_ != nullptr) munmap(mapping_, static_cast<size_t>(mapped_bytes_));
}

void GrowingMemory::swap(GrowingMemory& other) noexcept {
  std::swap(block_, other.block_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(offset_, other.offset_);
  std::swap(size_bytes_, other.size_bytes_);
}

std::byte* GrowingMemory::data() const {
  return mapping_ != nullptr ? static_cast<std::byte*>(mapping_) + offset_
                             : static_cast<std::byte*>(block_.get());
}

bool GrowingMemory::map(int64_t bytes) {
  const bool is_new = mapping_ == nullptr;
  const int64_t offset = is_new ? next_offset() : offset_;
  const int64_t space = space_for(bytes);
  if (space == 0) return false;
  const auto size = static_cast<size_t>(space);
  void* memory = is_new
                     ? mmap(nullptr, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                     : mremap(mapping_, static_cast<size_t>(mapped_bytes_), size, MREMAP_MAYMOVE);
  if (memory == MAP_FAILED) return false;
  mapping_ = memory;
  mapped_bytes_ = space;
  offset_ = offset;
  return true;
}

bool GrowingMemory::grow(int64_t bytes) {
  if (bytes <= size_bytes_) return true;
  if (mapping_ != nullptr ? bytes <= mapped_bytes_ - offset_ || map(bytes)
                          : kMaps && bytes >= kSmallestMapped && bytes <= most_block_bytes() &&
                                has_plain_memory() && map(bytes)) {
    block_ = nullptr;
    size_bytes_ = bytes;
    return true;
  }
  *this = GrowingMemory();
  const int64_t room = with_room_to_grow(bytes);
  block_ = allocate_block(room);
  if (block_ != nullptr) size_bytes_ = room;
  return block_ != nullptr;
}

}  // namespace sardonyx
