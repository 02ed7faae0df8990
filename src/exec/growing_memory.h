// GrowingMemory: memory for what is a little larger in the next Run than in this one, as the keys
// and values of a decoder are. Fresh memory costs a page fault every 4 KiB, more than many models'
// work; here only the pages that were not used before are fresh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/address_space.h"

namespace sardonyx {

class GrowingMemory {
 public:
  GrowingMemory() = default;
  GrowingMemory(GrowingMemory&&) noexcept = default;
  GrowingMemory& operator=(GrowingMemory&&) noexcept = default;

  // Makes size_bytes >= bytes; the memory may move, and its contents are lost. Aligned to
  // kTensorAlignment. False when there is no memory; then there is none here either. Throws what
  // allocate_block() throws.
  bool grow(int64_t bytes);

  // Whether it grows without a copy of the pages that it has.
  bool keeps_pages() const { return space_.data() != nullptr; }

  std::byte* data() const;
  // The most that grow() was asked for.
  int64_t size_bytes() const { return size_bytes_; }

 private:
  bool grow_space(int64_t bytes);

  std::shared_ptr<void> block_;  // small, or of the application's allocator
  AddressSpace space_;           // or larger
  int64_t offset_ = 0;           // of data() in it
  int64_t size_bytes_ = 0;
};

}  // namespace sardonyx
