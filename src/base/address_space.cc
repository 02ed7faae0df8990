#include "base/address_space.h"

#include <sys/mman.h>

#include <utility>

namespace sardonyx {
namespace {

// A page of 2 MiB under space that is hardly used would be memory for nothing.
constexpr int64_t kHugePage = 2 * 1024 * 1024;

}  // namespace

AddressSpace::~AddressSpace() {
  if (data_ != nullptr) munmap(data_, static_cast<size_t>(size_bytes_));
}

void AddressSpace::swap(AddressSpace& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
}

bool AddressSpace::grow(int64_t size_bytes) {
  const auto size = static_cast<size_t>(size_bytes);
  void* memory = data_ == nullptr
                     ? mmap(nullptr, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                     : mremap(data_, static_cast<size_t>(size_bytes_), size, MREMAP_MAYMOVE);
  if (memory == MAP_FAILED) return false;
  // A system without huge pages does not know the advice, and needs none.
  if (data_ == nullptr && size_bytes < kHugePage) (void)madvise(memory, size, MADV_NOHUGEPAGE);
  data_ = memory;
  size_bytes_ = size_bytes;
  return true;
}

}  // namespace sardonyx
