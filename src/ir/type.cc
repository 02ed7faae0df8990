#include "ir/type.h"

#include <fmt/format.h>

namespace sardonyx {

ValueType ValueType::without_shapes() const {
  return {kind, element, std::nullopt,
          inner ? std::make_shared<const ValueType>(inner->without_shapes()) : nullptr};
}

std::string print_shape(const SymShape& shape, const DimTable& dims) {
  if (!shape) return "";
  std::string text = "[";
  for (size_t i = 0; i < shape->size(); ++i) {
    if (i != 0) text += ',';
    text += dims.print((*shape)[i]);
  }
  return text + ']';
}

std::string print_type(const ValueType& type, const DimTable& dims) {
  using Kind = ValueType::Kind;
  switch (type.kind) {
    case Kind::kTensor:
      return name_of(type.element) + print_shape(type.shape, dims);
    case Kind::kSparseTensor:
      return fmt::format("sparse({}{})", name_of(type.element), print_shape(type.shape, dims));
    case Kind::kSequence:
      return fmt::format("seq({})", type.inner ? print_type(*type.inner, dims) : "?");
    case Kind::kOptional:
      return fmt::format("optional({})", type.inner ? print_type(*type.inner, dims) : "?");
    case Kind::kMap:
      return fmt::format("map({},{})", name_of(type.element),
                         type.inner ? print_type(*type.inner, dims) : "?");
    case Kind::kUnknown:
      break;
  }
  return "?";
}

}  // namespace sardonyx
