// From an element type known at run time to a C++ type: the generic typed path of operators.
// visit_* call `visit(TypeTag<T>{})` with the storage type T; element_cast and Compute say how to
// do arithmetic with it. Instantiate by width (visit_width) where only bytes move.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>

#include "tensor/data_type.h"
#include "tensor/numeric.h"

namespace sardonyx {

template <typename T>
struct TypeTag {
  using Type = T;
};

// The type that arithmetic on T is done in: float for the narrow floating types, else T.
template <typename T>
using Compute =
    std::conditional_t<std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>, float, T>;

template <typename T>
inline constexpr bool kIsNarrow = !std::is_same_v<T, Compute<T>>;

template <typename T>
inline Compute<T> to_compute(const T& value) {
  return static_cast<Compute<T>>(value);
}
template <typename T>
inline T from_compute(Compute<T> value) {
  if constexpr (kIsNarrow<T>) {
    return T::from(value);
  } else {
    return value;
  }
}

// float, double, float16, bfloat16. False when `type` is none of them.
template <typename Visit>
bool visit_floats(DataType type, Visit&& visit) {
  switch (type) {
    case DataType::kFloat:
      return visit(TypeTag<float>{}), true;
    case DataType::kDouble:
      return visit(TypeTag<double>{}), true;
    case DataType::kFloat16:
      return visit(TypeTag<Float16>{}), true;
    case DataType::kBfloat16:
      return visit(TypeTag<Bfloat16>{}), true;
    default:
      return false;
  }
}

// The eight integer types of whole bytes.
template <typename Visit>
bool visit_integers(DataType type, Visit&& visit) {
  switch (type) {
    case DataType::kInt8:
      return visit(TypeTag<int8_t>{}), true;
    case DataType::kInt16:
      return visit(TypeTag<int16_t>{}), true;
    case DataType::kInt32:
      return visit(TypeTag<int32_t>{}), true;
    case DataType::kInt64:
      return visit(TypeTag<int64_t>{}), true;
    case DataType::kUint8:
      return visit(TypeTag<uint8_t>{}), true;
    case DataType::kUint16:
      return visit(TypeTag<uint16_t>{}), true;
    case DataType::kUint32:
      return visit(TypeTag<uint32_t>{}), true;
    case DataType::kUint64:
      return visit(TypeTag<uint64_t>{}), true;
    default:
      return false;
  }
}

template <typename Visit>
bool visit_numbers(DataType type, Visit&& visit) {
  return visit_floats(type, visit) || visit_integers(type, visit);
}

struct Bytes16 {
  uint64_t low, high;
};

// An unsigned type of the element's width, std::string for strings; false for sub-byte types.
template <typename Visit>
bool visit_width(DataType type, Visit&& visit) {
  if (type == DataType::kString) return visit(TypeTag<std::string>{}), true;
  switch (bits_of(type)) {
    case 8:
      return visit(TypeTag<uint8_t>{}), true;
    case 16:
      return visit(TypeTag<uint16_t>{}), true;
    case 32:
      return visit(TypeTag<uint32_t>{}), true;
    case 64:
      return visit(TypeTag<uint64_t>{}), true;
    case 128:
      return visit(TypeTag<Bytes16>{}), true;
    default:
      return false;
  }
}

}  // namespace sardonyx
