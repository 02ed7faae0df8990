// ValueType to TypeProto.
#include <algorithm>

#include "onnx/type_proto.h"

namespace sardonyx {
namespace {

// Without the mark that the reader puts on repeated and missing names: `batch#1`, `#x_0`.
std::string name_in_model(const std::string& symbol) {
  const size_t mark = symbol.rfind('#');
  if (mark == std::string::npos) return symbol;
  if (symbol[0] == '#') return {};
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool counted =
      mark + 1 < symbol.size() &&
      std::all_of(symbol.begin() + static_cast<std::ptrdiff_t>(mark) + 1, symbol.end(), is_digit);
  return counted ? symbol.substr(0, mark) : symbol;
}

std::string dim_name(const Dim& dim, const DimTable& dims) {
  if (!dim.is_symbolic()) return {};
  if (const std::string* symbol = dims.symbol_name(dim)) return name_in_model(*symbol);
  std::string text = dims.print(dim);
  return text.find('#') == std::string::npos ? text : std::string();
}

WireWriter tensor_type_message(const ValueType& type, const DimTable& dims) {
  WireWriter out;
  out.varint(1, static_cast<uint64_t>(type.element));
  if (!type.shape) return out;
  WireWriter shape;
  for (const Dim& dim : *type.shape) {
    WireWriter each;
    if (dim.is_known()) {
      each.varint(1, static_cast<uint64_t>(dim.value));
    } else if (const std::string name = dim_name(dim, dims); !name.empty()) {
      each.text(2, name);
    }
    shape.message(1, each);
  }
  out.message(2, shape);
  return out;
}

}  // namespace

bool is_complete(const ValueType& type) {
  switch (type.kind) {
    case ValueType::Kind::kUnknown:
      return false;
    case ValueType::Kind::kTensor:
    case ValueType::Kind::kSparseTensor:
      return type.element != DataType::kUndefined;
    case ValueType::Kind::kMap:
      if (type.element == DataType::kUndefined) return false;
      [[fallthrough]];
    case ValueType::Kind::kSequence:
    case ValueType::Kind::kOptional:
      return type.inner != nullptr && is_complete(*type.inner);
  }
  return false;
}

WireWriter type_message(const ValueType& type, const DimTable& dims) {
  WireWriter inner, out;
  const auto wrapped = [&] { return type.inner ? type_message(*type.inner, dims) : WireWriter(); };
  switch (type.kind) {
    case ValueType::Kind::kUnknown:
      break;
    case ValueType::Kind::kTensor:
      out.message(1, tensor_type_message(type, dims));
      break;
    case ValueType::Kind::kSparseTensor:
      out.message(8, tensor_type_message(type, dims));
      break;
    case ValueType::Kind::kSequence:
      inner.message(1, wrapped());
      out.message(4, inner);
      break;
    case ValueType::Kind::kOptional:
      inner.message(1, wrapped());
      out.message(9, inner);
      break;
    case ValueType::Kind::kMap:
      inner.varint(1, static_cast<uint64_t>(type.element));
      inner.message(2, wrapped());
      out.message(5, inner);
      break;
  }
  return out;
}

}  // namespace sardonyx
