// Nodes and attributes of the text syntax.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/text_element.h"
#include "ir/text_parser.h"
#include "sardonyx/error.h"

namespace sardonyx {

// Names up to `close`; an empty place is an absent value.
std::vector<std::string> TextParser::names(char close) {
  std::vector<std::string> result;
  if (in_.peek() == close) return result;
  do {
    const char c = in_.peek();
    result.push_back(c == ',' || c == close ? std::string() : in_.name("the name of a value"));
  } while (in_.accept(','));
  return result;
}

NodeText TextParser::node(CaptureList& captures) {
  NodeText result;
  if (in_.accept('[')) {
    result.name = in_.name("the name of a node");
    in_.expect(']');
  }
  result.outputs = names('=');
  in_.expect('=');
  std::vector<std::string> path;
  do path.push_back(in_.name("an operator"));
  while (in_.accept('.'));
  result.op = std::move(path.back());
  path.pop_back();
  result.domain = fmt::format("{}", fmt::join(path, "."));
  if (result.domain == "ai.onnx") result.domain.clear();
  if (in_.accept(':')) result.overload = in_.name("an overload");
  if (in_.peek() == '<') attributes(result.attributes, captures);
  in_.expect('(');
  result.inputs = names(')');
  in_.expect(')');
  if (in_.peek() == '<') attributes(result.attributes, captures);
  return result;
}

void TextParser::attributes(Attributes& into, CaptureList& captures) {
  in_.expect('<');
  bool first = true;
  while (!in_.accept('>')) {
    if (!std::exchange(first, false)) in_.expect(',');
    const std::string name = in_.name("an attribute");
    if (into.contains(name)) in_.fail(fmt::format("attribute '{}' is given twice", name));
    std::string_view kind;
    if (in_.accept(':')) kind = in_.identifier("the kind of an attribute");
    in_.expect('=');
    into.set(name, attribute_value(kind, captures));
  }
}

SparseTensor TextParser::sparse() {
  SparseTensor result;
  in_.identifier("sparse");
  in_.expect('[');
  while (!in_.accept(']')) {
    if (!result.shape.empty()) in_.expect(',');
    result.shape.push_back(integer());
  }
  in_.expect('(');
  result.values = parse_tensor(in_);
  in_.expect(',');
  result.indices = parse_tensor(in_);
  in_.expect(')');
  return result;
}

namespace {

constexpr const char* kKinds[] = {"undefined",      "float",      "int",        "string",
                                  "tensor",         "graph",      "floats",     "ints",
                                  "strings",        "tensors",    "graphs",     "sparse_tensor",
                                  "sparse_tensors", "type_proto", "type_protos"};

template <typename T>
std::vector<T> as_list(TextLexer& in, std::vector<AttributeValue> values) {
  std::vector<T> result;
  for (AttributeValue& value : values) {
    T* typed = get_held<T>(value);
    if (typed == nullptr) {
      in.fail(fmt::format("the list mixes {} and {}", kind_name(values[0]), kind_name(value)));
    }
    result.push_back(std::move(*typed));
  }
  return result;
}

}  // namespace

AttributeValue TextParser::attribute_value(std::string_view kind, CaptureList& captures) {
  if (in_.accept('@')) {
    const auto at = std::find(std::begin(kKinds), std::end(kKinds), kind);
    if (at == std::end(kKinds)) in_.fail("a reference needs a kind: name: int = @other");
    return AttributeRef{in_.name("an attribute"), static_cast<int>(at - std::begin(kKinds))};
  }
  if (in_.peek() == '[') return list_value(kind, captures);
  if (in_.peek() == '"') return in_.string_literal();
  if (kind == "type_proto") return parse_type(in_, *dims_);
  if (in_.peek_number()) {
    const std::string_view token = in_.number();
    const bool hex = token.substr(0, 2) == "0x";
    const bool integral = hex || token.find_first_of(".eEnN") == std::string_view::npos;
    Tensor one = Tensor::allocate(
        kind == "int" || (kind.empty() && integral) ? DataType::kInt64 : DataType::kFloat, {});
    try {
      parse_element(one, 0, token);
    } catch (const Error& error) {
      in_.fail(error.what());
    }
    if (one.type() == DataType::kInt64) return *one.data<int64_t>();
    return *one.data<float>();
  }
  const std::string_view word = in_.peek_word();
  if (word == "sparse") return sparse();
  if (parse_data_type(word)) return parse_tensor(in_);
  if (!word.empty()) return graph(&captures);
  in_.fail("expected a number, string, list, tensor or graph");
}

AttributeValue TextParser::list_value(std::string_view kind, CaptureList& captures) {
  std::string_view element_kind = kind;
  if (!kind.empty() && kind.back() == 's') element_kind.remove_suffix(1);
  std::vector<AttributeValue> values;
  in_.expect('[');
  while (!in_.accept(']')) {
    if (!values.empty()) in_.expect(',');
    if (in_.peek() == '[') in_.fail("a list cannot hold lists");
    values.push_back(attribute_value(element_kind, captures));
  }
  const bool any_float = std::any_of(values.begin(), values.end(), [](const AttributeValue& v) {
    return std::holds_alternative<float>(v);
  });
  if (any_float) {  // [1, 0.5] is a list of floats
    for (AttributeValue& value : values) {
      if (const auto* i = std::get_if<int64_t>(&value)) value = static_cast<float>(*i);
    }
  }
  const std::string_view first = values.empty() ? element_kind : kind_name(values[0]);
  if (first == "int") return as_list<int64_t>(in_, std::move(values));
  if (first == "float") return as_list<float>(in_, std::move(values));
  if (first == "string") return as_list<std::string>(in_, std::move(values));
  if (first == "tensor") return as_list<Tensor>(in_, std::move(values));
  if (first == "graph") return as_list<std::shared_ptr<Graph>>(in_, std::move(values));
  if (first == "sparse" || first == "sparse_tensor") {
    return as_list<SparseTensor>(in_, std::move(values));
  }
  if (first == "type" || first == "type_proto") return as_list<ValueType>(in_, std::move(values));
  in_.fail("an empty list needs a kind: axes: ints = []");
}

}  // namespace sardonyx
