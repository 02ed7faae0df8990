#include "exec/growing_memory.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "tensor/memory.h"

namespace sardonyx {
namespace {

// Less is as cheap from the C library. Each block has a size of its own, at most a page more, from
// which on it lies in address space, because the first pages there are fresh.
constexpr int64_t kLeastInSpace = 2 * 1024;
// Address space costs nothing. Much of it saves moves; more than this is not wasted on any.
constexpr int64_t kLeastSpace = 256 * 1024;
constexpr int64_t kMostSpaceToSpare = 64 * 1024 * 1024;
constexpr int64_t kPage = 64 * 1024;  // the largest of the systems'; more than any offset

// Sanitizers see no write behind the end of a mapping.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasSpace = false;
#else
constexpr bool kHasSpace = true;
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

std::byte* GrowingMemory::data() const {
  return keeps_pages() ? static_cast<std::byte*>(space_.data()) + offset_
                       : static_cast<std::byte*>(block_.get());
}

bool GrowingMemory::grow_space(int64_t bytes) {
  const int64_t space = space_for(bytes);
  return space != 0 && space_.grow(space);
}

bool GrowingMemory::grow(int64_t bytes) {
  if (bytes <= size_bytes_) return true;
  if (bytes > most_block_bytes()) {
    *this = GrowingMemory();
    return false;
  }
  if (size_bytes_ == 0) offset_ = next_offset();
  const bool may_grow =
      keeps_pages() || (kHasSpace && bytes >= kLeastInSpace + offset_ && has_plain_memory());
  const bool fits = keeps_pages() && bytes <= space_.size_bytes() - offset_;
  if (fits || (may_grow && grow_space(bytes))) {
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
