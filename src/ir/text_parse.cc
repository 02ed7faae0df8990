#include "ir/text_parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/scope.h"
#include "ir/text_element.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

constexpr int kMaxGraphDepth = 64;

using Props = std::vector<std::pair<std::string, std::string>>;

class TextParser {
 public:
  TextParser(TextLexer& in, std::shared_ptr<DimTable> dims) : in_(in), dims_(std::move(dims)) {}

  std::unique_ptr<Model> model();
  NodeText node(CaptureList& captures);

 private:
  struct Header {
    int64_t ir_version = kTextIrVersion;
    OpsetImports opset_imports;
    std::string producer_name, producer_version, domain, overload, doc;
    int64_t model_version = 0;
    Props metadata;
  };
  struct Declared {
    std::string name;
    ValueType type;
  };

  Header header();
  OpsetImports opsets();
  Props props();
  int64_t integer();

  std::shared_ptr<Graph> graph(CaptureList* outer);
  void body(GraphScope& scope, const std::vector<Declared>& outputs,
            std::vector<Declared> known_types);
  Function function(Header head);
  Declared declared();
  void inputs(GraphScope& scope);
  std::vector<Declared> outputs();
  void values(GraphScope& scope, std::vector<Declared>& known_types);
  Tensor initializer(const Declared& value);
  void declare(GraphScope& scope, const std::string& name, ValueId id);

  std::vector<std::string> names(char close);
  void attributes(Attributes& into, CaptureList& captures);
  AttributeValue attribute_value(std::string_view kind, CaptureList& captures);
  AttributeValue list_value(std::string_view kind, CaptureList& captures);
  SparseTensor sparse();

  TextLexer& in_;
  std::shared_ptr<DimTable> dims_;
  int depth_ = 0;
};

int64_t TextParser::integer() {
  Tensor one = Tensor::allocate(DataType::kInt64, {});
  try {
    parse_element(one, 0, in_.number());
  } catch (const Error& error) {
    in_.fail(error.what());
  }
  return *one.data<int64_t>();
}

OpsetImports TextParser::opsets() {
  OpsetImports imports;
  in_.expect('[');
  while (!in_.accept(']')) {
    if (!imports.empty()) in_.expect(',');
    std::string domain = in_.string_literal();
    in_.expect(':');
    imports[domain == "ai.onnx" ? "" : domain] = integer();
  }
  return imports;
}

Props TextParser::props() {
  Props result;
  in_.expect('[');
  while (!in_.accept(']')) {
    if (!result.empty()) in_.expect(',');
    std::string key = in_.string_literal();
    in_.expect(':');
    result.emplace_back(std::move(key), in_.string_literal());
  }
  return result;
}

TextParser::Header TextParser::header() {
  Header head;
  in_.expect('<');
  bool first = true;
  while (!in_.accept('>')) {
    if (!std::exchange(first, false)) in_.expect(',');
    const std::string_view key = in_.identifier("a property of the model");
    in_.expect(':');
    if (key == "ir_version") {
      head.ir_version = integer();
    } else if (key == "opset_import") {
      head.opset_imports = opsets();
    } else if (key == "producer_name") {
      head.producer_name = in_.string_literal();
    } else if (key == "producer_version") {
      head.producer_version = in_.string_literal();
    } else if (key == "domain") {
      head.domain = in_.string_literal();
    } else if (key == "overload") {
      head.overload = in_.string_literal();
    } else if (key == "model_version") {
      head.model_version = integer();
    } else if (key == "doc_string") {
      head.doc = in_.string_literal();
    } else if (key == "metadata_props") {
      head.metadata = props();
    } else {
      in_.fail(fmt::format("unknown property '{}'", key));
    }
  }
  return head;
}

std::unique_ptr<Model> TextParser::model() {
  auto model = std::make_unique<Model>();
  Header head;
  if (in_.peek() == '<') {
    head = header();
  } else {
    head.opset_imports[""] = kTextOpset;
  }
  model->ir_version = head.ir_version;
  model->opset_imports = head.opset_imports;
  model->producer_name = head.producer_name;
  model->producer_version = head.producer_version;
  model->domain = head.domain;
  model->model_version = head.model_version;
  model->doc = head.doc;
  model->metadata = head.metadata;
  std::shared_ptr<Graph> parsed = graph(nullptr);
  model->graph = std::make_unique<Graph>(std::move(*parsed));
  while (!in_.at_end()) model->functions.push_back(function(header()));
  return model;
}

Function TextParser::function(Header head) {
  Function result;
  result.domain = head.domain == "ai.onnx" ? "" : head.domain;
  result.overload = head.overload;
  result.opset_imports = head.opset_imports;
  result.doc = head.doc;
  result.metadata = head.metadata;
  result.name = in_.name("the name of a function");
  if (in_.accept('<')) {
    CaptureList none(nullptr);
    bool first = true;
    while (!in_.accept('>')) {
      if (!std::exchange(first, false)) in_.expect(',');
      const std::string name = in_.name("an attribute");
      std::string_view kind;
      if (in_.accept(':')) kind = in_.identifier("the kind of an attribute");
      if (in_.accept('=')) {
        result.attribute_defaults.set(name, attribute_value(kind, none));
      } else {
        result.attributes.push_back(name);
      }
    }
  }
  result.body = std::make_shared<Graph>(dims_);
  result.body->name = result.name;
  GraphScope scope(*result.body, nullptr);
  inputs(scope);
  in_.expect("=>");
  const std::vector<Declared> outs = outputs();
  std::vector<Declared> known_types;
  if (in_.peek() == '<') values(scope, known_types);
  body(scope, outs, std::move(known_types));
  return result;
}

// `float[N] x`, or `x` alone when nothing is known of its type.
TextParser::Declared TextParser::declared() {
  Declared value;
  if (in_.peek() == '?' || is_type_word(in_.peek_word())) value.type = parse_type(in_, *dims_);
  value.name = in_.name("the name of a value");
  if (value.name.empty()) in_.fail("a value needs a name that is not empty");
  return value;
}

Tensor TextParser::initializer(const Declared& value) {
  if (in_.peek() != '{') return parse_tensor(in_);
  const auto shape = to_shape(value.type.shape);
  if (!value.type.is_tensor()) in_.fail("a value in braces needs a tensor type before the name");
  if (!value.type.shape) return parse_tensor_values(in_, value.type.element, {});
  if (!shape) in_.fail("a value in braces needs a type whose dimensions are all numbers");
  return parse_tensor_values(in_, value.type.element, *shape);
}

void TextParser::declare(GraphScope& scope, const std::string& name, ValueId id) {
  if (!scope.declare(name, id)) in_.fail(fmt::format("'{}' is defined twice in its graph", name));
}

void TextParser::inputs(GraphScope& scope) {
  in_.expect('(');
  bool first = true;
  while (!in_.accept(')')) {
    if (!std::exchange(first, false)) in_.expect(',');
    const Declared value = declared();
    Tensor fallback;
    if (in_.accept('=')) fallback = initializer(value);
    declare(scope, value.name,
            scope.graph().add_input(value.name, value.type, std::move(fallback)));
  }
}

std::vector<TextParser::Declared> TextParser::outputs() {
  std::vector<Declared> result;
  in_.expect('(');
  while (!in_.accept(')')) {
    if (!result.empty()) in_.expect(',');
    result.push_back(declared());
  }
  return result;
}

// `<float[1] c = {2}, float[2,?] t>`: constants, defaults of inputs, types of values to come.
void TextParser::values(GraphScope& scope, std::vector<Declared>& known_types) {
  Graph& graph = scope.graph();
  in_.expect('<');
  bool first = true;
  while (!in_.accept('>')) {
    if (!std::exchange(first, false)) in_.expect(',');
    Declared value = declared();
    if (!in_.accept('=')) {
      known_types.push_back(std::move(value));
      continue;
    }
    Tensor tensor = initializer(value);
    const auto present = scope.find_local(value.name);
    const auto at = present ? std::find(graph.inputs().begin(), graph.inputs().end(), *present)
                            : graph.inputs().end();
    if (at == graph.inputs().end()) {
      declare(scope, value.name, graph.add_constant(value.name, std::move(tensor)));
      continue;
    }
    std::vector<Tensor> defaults;
    for (size_t i = 0; i < graph.inputs().size(); ++i) defaults.push_back(graph.input_default(i));
    defaults[static_cast<size_t>(at - graph.inputs().begin())] = std::move(tensor);
    graph.set_inputs(graph.inputs(), std::move(defaults));
  }
}

std::shared_ptr<Graph> TextParser::graph(CaptureList* outer) {
  if (++depth_ > kMaxGraphDepth) {
    in_.fail(fmt::format("graphs are nested deeper than {} levels", kMaxGraphDepth));
  }
  auto result = std::make_shared<Graph>(dims_);
  result->name = in_.name("the name of a graph");
  GraphScope scope(*result, outer);
  inputs(scope);
  in_.expect("=>");
  const std::vector<Declared> outs = outputs();
  std::vector<Declared> known_types;
  if (in_.peek() == '<') values(scope, known_types);
  body(scope, outs, std::move(known_types));
  --depth_;
  return result;
}

void TextParser::body(GraphScope& scope, const std::vector<Declared>& outputs,
                      std::vector<Declared> known_types) {
  Graph& graph = scope.graph();
  known_types.insert(known_types.end(), outputs.begin(), outputs.end());
  in_.expect('{');
  while (!in_.accept('}')) {
    CaptureList captures(&scope);
    NodeText text = node(captures);
    Node made;
    made.domain = std::move(text.domain);
    made.op = std::move(text.op);
    made.overload = std::move(text.overload);
    made.name = std::move(text.name);
    made.attributes = std::move(text.attributes);
    made.captures = captures.ids();
    for (const std::string& name : text.inputs) {
      const auto id = name.empty() ? ValueId::kNone : scope.find(name);
      if (!id) in_.fail(fmt::format("'{}' is used before it is defined; it is used", name));
      made.inputs.push_back(*id);
    }
    for (const std::string& name : text.outputs) {
      const ValueId id = name.empty() ? ValueId::kNone : graph.add_value(name);
      if (!name.empty()) declare(scope, name, id);
      made.outputs.push_back(id);
    }
    graph.add_node(std::move(made));
  }
  for (const Declared& value : known_types) {
    const auto id = scope.find_local(value.name);
    if (id && graph.value(*id).type.kind == ValueType::Kind::kUnknown) {
      graph.value(*id).type = value.type;
    }
  }
  for (const Declared& value : outputs) {
    const auto id = scope.find(value.name);
    if (!id) in_.fail(fmt::format("output '{}' is defined nowhere", value.name));
    graph.add_output(*id);
  }
}

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
    // `q = float[2] {1, 2}` may be written as `q: float[2] {1, 2}` nowhere: '=' is required.
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

constexpr const char* kKinds[] = {"undefined",      "float",      "int",        "string",
                                  "tensor",         "graph",      "floats",     "ints",
                                  "strings",        "tensors",    "graphs",     "sparse_tensor",
                                  "sparse_tensors", "type_proto", "type_protos"};

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

template <typename T>
std::vector<T> as_list(TextLexer& in, std::vector<AttributeValue> values) {
  std::vector<T> result;
  for (AttributeValue& value : values) {
    T* typed = std::get_if<T>(&value);
    if (typed == nullptr) {
      in.fail(fmt::format("the list mixes {} and {}", kind_name(values[0]), kind_name(value)));
    }
    result.push_back(std::move(*typed));
  }
  return result;
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

}  // namespace

NodeText parse_node(TextLexer& in, const std::shared_ptr<DimTable>& dims) {
  CaptureList captures(nullptr);
  TextParser parser(in, dims ? dims : std::make_shared<DimTable>());
  NodeText node = parser.node(captures);
  node.captures = captures.names();
  return node;
}

NodeText parse_node_text(std::string_view text, std::shared_ptr<DimTable> dims) {
  TextLexer in(text);
  NodeText node = parse_node(in, dims);
  if (!in.at_end()) in.fail("expected the end of the node");
  return node;
}

std::unique_ptr<Model> parse_model_text(std::string_view text) {
  TextLexer in(text);
  return TextParser(in, std::make_shared<DimTable>()).model();
}

}  // namespace sardonyx
