#include "ir/text_parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/text_element.h"
#include "ir/text_parser.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

constexpr int kMaxGraphDepth = 64;

}  // namespace

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

TextParser::Props TextParser::props() {
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
