// Tensor: element type, shape and bytes, row-major and contiguous; strings are std::string objects,
// the elements of sequences and optionals Tensor objects (kSequenceType, kOptionalType).
// Bytes are owned (shared, reference counted) or borrowed from memory that outlives the tensor: a
// mapped file, the caller's buffer, an arena. Copying a Tensor shares the bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace sardonyx {

inline constexpr size_t kTensorAlignment = 64;  // bytes; of everything we allocate

class Tensor {
 public:
  Tensor() = default;

  // Fresh uninitialised memory (objects: empty). Throws Error(kInvalidArgument) for a negative or
  // overflowing size and Error(kFail) when memory cannot be had.
  static Tensor allocate(DataType type, const Shape& shape);

  // A view of `data`, kept alive by `owner` (may be null: the caller guarantees the lifetime).
  static Tensor view(DataType type, const Shape& shape, void* data,
                     std::shared_ptr<const void> owner = nullptr);
  static Tensor view(DataType type, const Shape& shape, const void* data,
                     std::shared_ptr<const void> owner = nullptr) {
    return view(type, shape, const_cast<void*>(data), std::move(owner));
  }

  // Convenience for constants: copies `values`, whose count must equal the shape's.
  template <typename T>
  static Tensor from(DataType type, const Shape& shape, std::span<const T> values) {
    Tensor t = allocate(type, shape);
    std::copy(values.begin(), values.end(), t.data<T>());
    return t;
  }
  static Tensor of_int64(std::span<const int64_t> values) {
    return from<int64_t>(DataType::kInt64, Shape{static_cast<int64_t>(values.size())}, values);
  }

  bool is_defined() const { return type_ != DataType::kUndefined; }
  DataType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  int64_t size() const { return element_count(shape_); }
  int64_t size_bytes() const { return *storage_bytes(type_, size()); }
  void* raw() { return data_; }
  const void* raw() const { return data_; }
  template <typename T>
  T* data() {
    return static_cast<T*>(data_);
  }
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(data_);
  }
  template <typename T>
  std::span<const T> values() const {
    return {static_cast<const T*>(data_), static_cast<size_t>(size())};
  }
  const std::shared_ptr<const void>& owner() const { return owner_; }
  // Made by allocate(): the bytes are private to this process and outlive every file and caller.
  bool is_private() const { return private_; }

  // The same bytes seen with another shape of equal element count.
  Tensor reshaped(const Shape& shape) const {
    Tensor result = *this;
    result.shape_ = shape;
    return result;
  }

  // A deep copy that owns its bytes; so do the elements of a sequence or optional.
  Tensor clone() const;
  // The same value with bytes that nobody else sees: itself when it is the only owner, else a
  // clone; the elements of a sequence or optional one by one.
  Tensor made_own() &&;

 private:
  DataType type_ = DataType::kUndefined;
  Shape shape_;
  void* data_ = nullptr;
  std::shared_ptr<const void> owner_;
  bool private_ = false;
};

// Integer contents of a small tensor (int32, int64, bool, uint8, ...) widened to int64. Throws
// Error(kInvalidArgument) for any other type.
SmallVector<int64_t, 8> integer_values(const Tensor& tensor);

// Copies elements [from_at, from_at + count) of `from` to [to_at, to_at + count) of `to`, another
// tensor's bytes. Any type: packed ones leave their neighbours alone, Tensor objects share bytes.
void copy_elements(DataType type, const void* from, int64_t from_at, void* to, int64_t to_at,
                   int64_t count);
// Copies all `count` elements of a tensor, with the unused bits behind packed ones.
void copy_contents(DataType type, const void* from, void* to, int64_t count);

// A sequence or an optional (kSequenceType, kOptionalType) of `items`, whose bytes it shares.
Tensor tensor_of_values(DataType type, std::span<const Tensor> items);

// Same type, shape and bytes (floats compared as bits); elements of sequences and optionals alike.
bool bitwise_equal(const Tensor& a, const Tensor& b);

}  // namespace sardonyx
