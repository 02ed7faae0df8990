// BufferPool: recycles the memory of outputs, because fresh memory is dear (growing_memory.h): a
// buffer comes back here when the caller drops its last reference, and is freed for good when later
// outputs are of other sizes.
// Thread safe; a buffer may outlive the pool.
#pragma once

#include <cstdint>
#include <memory>

#include "tensor/tensor.h"

namespace sardonyx {

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
