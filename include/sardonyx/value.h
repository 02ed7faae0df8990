// Value: a tensor, sequence or optional that goes into or comes out of a Session. Memory is either
// owned (shared between copies of the Value) or borrowed from the caller, who keeps it alive while
// the Value is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "sardonyx/element_type.h"
#include "sardonyx/error.h"

namespace sardonyx {

namespace internal {
struct ValueAccess;

template <typename T>
constexpr ElementType element_type_of() {
  if constexpr (std::is_same_v<T, float>) return ElementType::kFloat;
  if constexpr (std::is_same_v<T, double>) return ElementType::kDouble;
  if constexpr (std::is_same_v<T, int8_t>) return ElementType::kInt8;
  if constexpr (std::is_same_v<T, int16_t>) return ElementType::kInt16;
  if constexpr (std::is_same_v<T, int32_t>) return ElementType::kInt32;
  if constexpr (std::is_same_v<T, int64_t>) return ElementType::kInt64;
  if constexpr (std::is_same_v<T, uint8_t>) return ElementType::kUint8;
  if constexpr (std::is_same_v<T, uint16_t>) return ElementType::kUint16;
  if constexpr (std::is_same_v<T, uint32_t>) return ElementType::kUint32;
  if constexpr (std::is_same_v<T, uint64_t>) return ElementType::kUint64;
  if constexpr (std::is_same_v<T, bool>) return ElementType::kBool;
  if constexpr (std::is_same_v<T, std::string>) return ElementType::kString;
  return ElementType::kUndefined;
}
}  // namespace internal

enum class ValueKind : uint8_t {
  kNone,  // an empty Value
  kTensor,
  kSequence,  // any number of tensors of one element type
  kOptional,  // nothing, a tensor or a sequence
};

class SARDONYX_API Value {
 public:
  Value();  // empty: has_value() is false
  ~Value();
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;

  // A tensor with its own zeroed memory (strings: empty). shape: dimensions, outermost first, each
  // >= 0. Throws Error(kInvalidArgument) for a negative dimension or a size that overflows.
  static Value tensor(ElementType type, std::span<const int64_t> shape);

  // A tensor over the caller's memory, which must outlive the Value. size_bytes: what `data` holds;
  // throws Error(kInvalidArgument) when the shape needs more. Strings: an array of std::string.
  static Value view(ElementType type, std::span<const int64_t> shape, void* data,
                    size_t size_bytes);

  // A tensor that copies `values`; their count must equal the shape's product.
  template <typename T>
  static Value copy_of(std::span<const T> values, std::span<const int64_t> shape) {
    Value value = tensor(internal::element_type_of<T>(), shape);
    if (value.size() != values.size()) {
      throw Error(ErrorCode::kInvalidArgument,
                  "Value::copy_of: got " + std::to_string(values.size()) +
                      " elements, the shape needs " + std::to_string(value.size()));
    }
    T* out = static_cast<T*>(value.data());
    for (size_t i = 0; i < values.size(); ++i) out[i] = values[i];
    return value;
  }

  // A sequence of `items`, whose memory it shares. Throws Error(kInvalidArgument) for an item that
  // is not a tensor, or whose element type is not that of the first.
  static Value sequence(std::span<const Value> items);

  // An optional that holds `item`, whose memory it shares, or nothing when that is empty. Throws
  // Error(kInvalidArgument) for an item that is an optional itself.
  static Value optional(const Value& item = Value());

  bool has_value() const noexcept;  // true also for an optional that holds nothing
  ValueKind kind() const noexcept;

  // What a sequence or an optional holds, in order; Values that share its memory. Throws
  // Error(kInvalidArgument) for any other kind.
  std::vector<Value> items() const;

  // Of a tensor; kUndefined, empty, 0 and null for any other kind.
  ElementType element_type() const noexcept;
  std::span<const int64_t> shape() const noexcept;
  size_t size() const noexcept;        // elements
  size_t size_bytes() const noexcept;  // 4- and 2-bit types packed
  const void* data() const noexcept;
  void* data() noexcept;

  // The elements as T (float, double, [u]int8..64, bool, std::string). Throws
  // Error(kInvalidArgument) naming both types when they differ.
  template <typename T>
  std::span<const T> as() const {
    require_type(internal::element_type_of<T>());
    return {static_cast<const T*>(data()), size()};
  }
  template <typename T>
  std::span<T> as() {
    require_type(internal::element_type_of<T>());
    return {static_cast<T*>(data()), size()};
  }

 private:
  friend struct internal::ValueAccess;
  struct Impl;
  void require_type(ElementType wanted) const;
  std::shared_ptr<Impl> impl_;
};

}  // namespace sardonyx
