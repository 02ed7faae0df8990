#include "onnx/type_proto.h"

#include <fmt/format.h>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

class TypeReader {
 public:
  TypeReader(DimRule rule, std::string_view value, DimTable& dims)
      : rule_(rule), value_(value), dims_(dims) {}

  ValueType type(WireCursor cursor) {
    ValueType result;
    while (cursor.next()) {
      switch (cursor.field()) {
        case 1:
          result = tensor(cursor.message("TypeProto.Tensor"), ValueType::Kind::kTensor);
          break;
        case 4:
          result = ValueType::sequence(wrapped(cursor.message("TypeProto.Sequence")));
          break;
        case 5:
          result = map(cursor.message("TypeProto.Map"));
          break;
        case 8:
          result = tensor(cursor.message("TypeProto.SparseTensor"), ValueType::Kind::kSparseTensor);
          break;
        case 9:
          result = ValueType::optional(wrapped(cursor.message("TypeProto.Optional")));
          break;
        default:  // denotation, opaque types: nothing known
          break;
      }
    }
    return result;
  }

 private:
  DataType element(int32_t number) const {
    if (!is_data_type(number)) {
      throw Error(ErrorCode::kInvalidGraph,
                  fmt::format("value '{}' has the element type {}, known are 1 to {}", value_,
                              number, kDataTypeCount - 1));
    }
    return static_cast<DataType>(number);
  }

  ValueType tensor(WireCursor cursor, ValueType::Kind kind) {
    ValueType result;
    result.kind = kind;
    int32_t number = 0;
    while (cursor.next()) {
      if (cursor.field() == 1) number = cursor.int32();
      if (cursor.field() == 2) result.shape = shape(cursor.message("TensorShapeProto"));
    }
    result.element = element(number);
    return result;
  }

  ValueType wrapped(WireCursor cursor) {
    ValueType inner;
    while (cursor.next()) {
      if (cursor.field() == 1) inner = type(cursor.message("TypeProto"));
    }
    return inner;
  }

  ValueType map(WireCursor cursor) {
    int32_t key = 0;
    ValueType inner;
    while (cursor.next()) {
      if (cursor.field() == 1) key = cursor.int32();
      if (cursor.field() == 2) inner = type(cursor.message("TypeProto"));
    }
    const DataType key_type = element(key);
    if (!(is_integer(key_type) && bits_of(key_type) >= 8) && key_type != DataType::kString) {
      throw Error(ErrorCode::kInvalidGraph,
                  fmt::format("value '{}' is a map with keys of {}, expected integers or strings",
                              value_, name_of(key_type)));
    }
    return ValueType::map(key_type, std::move(inner));
  }

  Dims shape(WireCursor cursor) {
    Dims result;
    while (cursor.next()) {
      if (cursor.field() == 1) {
        result.push_back(dim(cursor.message("TensorShapeProto.Dimension"), result.size()));
      }
    }
    return result;
  }

  Dim dim(WireCursor cursor, size_t index) {
    int64_t number = -1;
    std::string_view name;
    while (cursor.next()) {
      if (cursor.field() == 1) {
        number = cursor.int64();
        name = {};
      } else if (cursor.field() == 2) {
        name = cursor.text();
        number = -1;
      }
    }
    if (number >= 0) return Dim(number);
    if (rule_ == DimRule::kUnknown) return Dim::unknown();
    return dims_.fresh_symbol(name.empty() ? fmt::format("#{}_{}", value_, index)
                                           : std::string(name));
  }

  const DimRule rule_;
  const std::string_view value_;
  DimTable& dims_;
};

}  // namespace

ValueType read_type(WireCursor cursor, DimRule rule, std::string_view value, DimTable& dims) {
  return TypeReader(rule, value, dims).type(cursor);
}

}  // namespace sardonyx
