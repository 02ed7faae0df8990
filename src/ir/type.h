// ValueType: what a value of a graph may hold: a tensor of an element type and (symbolic) shape, or
// a sequence, optional or map of such.
#pragma once

#include <memory>
#include <string>

#include "ir/dim.h"
#include "tensor/data_type.h"

namespace sardonyx {

struct ValueType {
  enum class Kind : uint8_t { kUnknown, kTensor, kSparseTensor, kSequence, kOptional, kMap };

  Kind kind = Kind::kUnknown;
  DataType element = DataType::kUndefined;  // of a tensor; the key type of a map
  SymShape shape;                           // of a tensor
  std::shared_ptr<const ValueType> inner;   // of a sequence, optional; the value type of a map

  static ValueType tensor(DataType element, SymShape shape = std::nullopt) {
    return {Kind::kTensor, element, std::move(shape), nullptr};
  }
  static ValueType sequence(ValueType of) {
    return {Kind::kSequence, DataType::kUndefined, std::nullopt,
            std::make_shared<const ValueType>(std::move(of))};
  }
  static ValueType optional(ValueType of) {
    return {Kind::kOptional, DataType::kUndefined, std::nullopt,
            std::make_shared<const ValueType>(std::move(of))};
  }
  static ValueType map(DataType key, ValueType of) {
    return {Kind::kMap, key, std::nullopt, std::make_shared<const ValueType>(std::move(of))};
  }
  bool is_tensor() const { return kind == Kind::kTensor; }
  // Is it a sequence or an optional? Such a value is a tensor of Tensor objects when running.
  bool holds_values() const { return kind == Kind::kSequence || kind == Kind::kOptional; }
  // The same without shapes, its own and those inside.
  ValueType without_shapes() const;
};

// "float[batch,3,(H / 2)]", "int64[]", "float" (rank unknown), "seq(float[?])", "optional(...)",
// "map(string,float)".
std::string print_type(const ValueType& type, const DimTable& dims);
std::string print_shape(const SymShape& shape, const DimTable& dims);

}  // namespace sardonyx
