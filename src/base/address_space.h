// AddressSpace: a range of addresses with memory only where it was written, in small pages when it
// begins small. Unmapped at the end.
#pragma once

#include <cstdint>

namespace sardonyx {

class AddressSpace {
 public:
  AddressSpace() = default;
  AddressSpace(AddressSpace&& other) noexcept { swap(other); }
  AddressSpace& operator=(AddressSpace&& other) noexcept {
    swap(other);
    return *this;
  }
  ~AddressSpace();

  // Makes it larger than it is; it may move, with its pages and what was written on them. False
  // when the system does not give it; then nothing has changed.
  bool grow(int64_t size_bytes);

  void* data() const { return data_; }  // null: empty; aligned to a page
  int64_t size_bytes() const { return size_bytes_; }

 private:
  void swap(AddressSpace& other) noexcept;

  void* data_ = nullptr;
  int64_t size_bytes_ = 0;
};

}  // namespace sardonyx
