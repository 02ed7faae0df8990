// Types, dimensions and tensor literals of the text syntax, both ways.
#include <fmt/format.h>

#include "ir/text_element.h"
#include "ir/text_parse.h"
#include "ir/text_print.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

int64_t parse_integer(TextLexer& in, const char* what) {
  const size_t start = in.position();
  if (!in.peek_number()) in.fail(fmt::format("expected {}", what));
  Tensor one = Tensor::allocate(DataType::kInt64, {});
  const std::string_view token = in.number();
  try {
    parse_element(one, 0, token);
  } catch (const Error&) {
    in.rewind(start);
    in.fail(fmt::format("expected {}", what));
  }
  return *one.data<int64_t>();
}

DataType parse_element_type(TextLexer& in) {
  const size_t start = in.position();
  const auto type = parse_data_type(in.identifier("an element type"));
  if (!type) {
    in.rewind(start);
    in.fail("expected an element type such as float, int64, float8e4m3fn");
  }
  return *type;
}

constexpr int kMaxDimDepth = 64;

Dim parse_sum(TextLexer& in, DimTable& dims, int depth);

Dim parse_primary(TextLexer& in, DimTable& dims, int depth) {
  if (depth > kMaxDimDepth) in.fail("the dimension is nested too deep (64 levels)");
  if (in.accept('?')) return Dim::unknown();
  if (in.accept('(')) {
    const Dim inner = parse_sum(in, dims, depth + 1);
    in.expect(')');
    return inner;
  }
  if (in.peek() == '"') return dims.symbol(in.string_literal());
  if (!in.peek_identifier()) return Dim(parse_integer(in, "a dimension: integer, name or ?"));
  const std::string_view word = in.identifier("a dimension");
  if (!in.accept('(')) return dims.symbol(word);
  Dim result;
  if (word == "ceil") {
    const Dim a = parse_primary(in, dims, depth + 1);
    in.expect('/');
    result = dims.ceil_div(a, parse_primary(in, dims, depth + 1));
  } else if (word == "min" || word == "max") {
    const Dim a = parse_sum(in, dims, depth + 1);
    in.expect(',');
    const Dim b = parse_sum(in, dims, depth + 1);
    result = word == "min" ? dims.min(a, b) : dims.max(a, b);
  } else {
    in.fail("dimensions know the functions min, max and ceil(a / b)");
  }
  in.expect(')');
  return result;
}

Dim parse_product(TextLexer& in, DimTable& dims, int depth) {
  Dim left = parse_primary(in, dims, depth);
  while (true) {
    if (in.accept('*')) {
      left = dims.mul(left, parse_primary(in, dims, depth));
    } else if (in.accept('/')) {
      left = dims.floor_div(left, parse_primary(in, dims, depth));
    } else if (in.accept('%')) {
      left = dims.mod(left, parse_primary(in, dims, depth));
    } else {
      return left;
    }
  }
}

Dim parse_sum(TextLexer& in, DimTable& dims, int depth) {
  Dim left = parse_product(in, dims, depth);
  while (true) {
    if (in.accept('+')) {
      left = dims.add(left, parse_product(in, dims, depth));
    } else if (in.accept('-')) {
      left = dims.sub(left, parse_product(in, dims, depth));
    } else {
      return left;
    }
  }
}

ValueType parse_type_at(TextLexer& in, DimTable& dims, int depth) {
  if (depth > kMaxDimDepth) in.fail("the type is nested too deep (64 levels)");
  if (in.accept('?')) return ValueType();
  const std::string_view word = in.peek_word();
  if (word == "seq" || word == "optional" || word == "sparse" || word == "sparse_tensor") {
    const bool sparse = word.starts_with("sparse");
    const bool sequence = word == "seq";
    in.identifier("a type");
    in.expect('(');
    ValueType inner = parse_type_at(in, dims, depth + 1);
    in.expect(')');
    if (sparse) {
      inner.kind = ValueType::Kind::kSparseTensor;
      return inner;
    }
    return sequence ? ValueType::sequence(std::move(inner)) : ValueType::optional(std::move(inner));
  }
  if (word == "map") {
    in.identifier("a type");
    in.expect('(');
    const DataType key = parse_element_type(in);
    in.expect(',');
    ValueType inner = parse_type_at(in, dims, depth + 1);
    in.expect(')');
    return ValueType::map(key, std::move(inner));
  }
  ValueType type = ValueType::tensor(parse_element_type(in));
  if (in.accept('[')) {
    type.shape.emplace();
    while (!in.accept(']')) {
      if (!type.shape->empty()) in.expect(',');
      type.shape->push_back(parse_dim(in, dims));
    }
  }
  return type;
}

}  // namespace

Dim parse_dim(TextLexer& in, DimTable& dims) { return parse_sum(in, dims, 0); }

ValueType parse_type(TextLexer& in, DimTable& dims) { return parse_type_at(in, dims, 0); }

ValueType parse_type_text(std::string_view text, DimTable& dims) {
  TextLexer in(text);
  ValueType type = parse_type(in, dims);
  if (!in.at_end()) in.fail("expected the end of the type");
  return type;
}

Tensor parse_tensor_values(TextLexer& in, DataType type, const Shape& shape) {
  Tensor tensor = Tensor::allocate(type, shape);
  const int per_element = numbers_per_element(type);
  const int64_t wanted = tensor.size() * per_element;
  in.expect('{');
  int64_t count = 0;
  std::string_view token;
  std::string string;
  const auto store = [&] {
    if (type == DataType::kString) {
      tensor.data<std::string>()[count++] = string;
      return;
    }
    try {
      parse_element(tensor, count++, token);
    } catch (const Error& error) {
      in.fail(error.what());
    }
  };
  while (!in.accept('}')) {
    if (count != 0) in.expect(',');
    if (in.accept("...")) {
      if (count == 0) in.fail("'...' repeats the value before it, and there is none");
      while (count < wanted) store();
      in.expect('}');
      return tensor;
    }
    if (count == wanted) {
      in.fail(fmt::format("{}{} takes {} numbers, there are more", name_of(type), to_string(shape),
                          wanted));
    }
    if (type == DataType::kString) {
      string = in.string_literal();
    } else {
      token = in.number();
    }
    store();
  }
  if (count != wanted) {
    in.fail(fmt::format("{}{} takes {} numbers, got {}", name_of(type), to_string(shape), wanted,
                        count));
  }
  return tensor;
}

Tensor parse_tensor(TextLexer& in) {
  const DataType type = parse_element_type(in);
  Shape shape;
  if (in.accept('[')) {
    while (!in.accept(']')) {
      if (!shape.empty()) in.expect(',');
      shape.push_back(parse_integer(in, "a dimension (an integer)"));
    }
  }
  const auto count = checked_element_count(shape);
  if (!count || *count > (int64_t{1} << 32)) {
    in.fail(fmt::format("{}{} is no size for a tensor in text", name_of(type), to_string(shape)));
  }
  return parse_tensor_values(in, type, shape);
}

Tensor parse_tensor_text(std::string_view text) {
  TextLexer in(text);
  Tensor tensor = parse_tensor(in);
  if (!in.at_end()) in.fail("expected the end of the tensor");
  return tensor;
}

std::string print_tensor_values(const Tensor& tensor, int64_t max_elements) {
  const int64_t total = tensor.size() * numbers_per_element(tensor.type());
  const int64_t shown = max_elements >= 0 ? std::min(total, max_elements) : total;
  std::string text = "{";
  for (int64_t i = 0; i < shown; ++i) {
    if (i != 0) text += ", ";
    text += print_element(tensor, i);
  }
  if (shown < total) text += fmt::format("{}# {} more\n", shown == 0 ? " " : ", ", total - shown);
  return text + '}';
}

std::string print_tensor(const Tensor& tensor, int64_t max_elements) {
  if (!tensor.is_defined()) return "undefined";
  return fmt::format("{}{} {}", name_of(tensor.type()),
                     tensor.shape().empty() ? "" : to_string(tensor.shape()),
                     print_tensor_values(tensor, max_elements));
}

}  // namespace sardonyx
