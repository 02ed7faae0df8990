// BufferPool: recycles the memory of outputs. Fresh memory costs a page fault every 4 KiB, more
// than many models' work, so a buffer comes back here when the caller drops its last reference, and
// is freed for good when later outputs are of other sizes.
// Thread safe; a buffer may outlive the pool. Fresh memory comes from allocate_block().
#pragma once

#include <cstdint>
#include <memory>

#include "tensor/tensor.h"

namespace sardonyx {

// At most an eighth more: memory of this size is still large enough when the next Run needs a
// little more than this one.
int64_t with_room_to_grow(int64_t bytes);

class BufferPool {
 public:
  BufferPool();
  // A tensor with uninitialised memory that returns to the pool when its last copy goes.
  // Throws as Tensor::allocate does.
  Tensor allocate(DataType type, const Shape& shape);
  // Gives what lies here unused back.
  void trim();

 private:
  struct Shelf;
  std::shared_ptr<Shelf> shelf_;
};

}  // namespace sardonyx
