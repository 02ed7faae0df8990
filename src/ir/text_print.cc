#include "ir/text_print.h"

#include <fmt/format.h>

#include <utility>

#include "ir/text_element.h"
#include "ir/text_lexer.h"
#include "ir/value_names.h"

namespace sardonyx {
namespace {

class Printer {
 public:
  Printer(const PrintOptions& options, const DimTable& dims) : options_(options), dims_(dims) {}

  void model(const Model& model);
  void graph(const Graph& graph, const ValueNames* outer, const ValueIds* captures);
  void node(const ValueNames& names, const Node& node);
  std::string take() { return std::move(text_); }

 private:
  void function(const Function& function);
  void signature(const Graph& graph, const ValueNames& names);
  void body(const Graph& graph, const ValueNames& names);
  void values(const Graph& graph, const ValueNames& names);
  void uses(const ValueIds& ids, const ValueNames& names);
  void attributes(const Attributes& attributes, const ValueNames& names, const ValueIds& captures);
  void attribute(const AttributeValue& value, const ValueNames& names, const ValueIds& captures);
  void typed_name(const Graph& graph, ValueId id, const ValueNames& names);
  void line() { text_ += '\n' + std::string(static_cast<size_t>(indent_), ' '); }

  const PrintOptions& options_;
  const DimTable& dims_;  // one for all graphs of a model
  std::string text_;
  int indent_ = 0;
};

std::string print_opsets(const OpsetImports& imports) {
  std::string text = "[";
  for (const auto& [domain, version] : imports) {
    if (text.size() > 1) text += ", ";
    text += fmt::format("{}: {}", quote_string(domain), version);
  }
  return text + ']';
}

std::string print_props(const std::vector<std::pair<std::string, std::string>>& props) {
  std::string text = "[";
  for (const auto& [key, value] : props) {
    if (text.size() > 1) text += ", ";
    text += quote_string(key) + ": " + quote_string(value);
  }
  return text + ']';
}

std::string print_float_attribute(float value) {
  std::string text = print_float(value);
  if (text.find_first_of(".enN") == std::string::npos) text += ".0";
  return text;
}

void Printer::model(const Model& model) {
  text_ += fmt::format("<\n  ir_version: {},\n  opset_import: {}", model.ir_version,
                       print_opsets(model.opset_imports));
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) text_ += fmt::format(",\n  {}: {}", key, quote_string(value));
  };
  add("producer_name", model.producer_name);
  add("producer_version", model.producer_version);
  add("domain", model.domain);
  if (model.model_version != 0) text_ += fmt::format(",\n  model_version: {}", model.model_version);
  add("doc_string", model.doc);
  if (!model.metadata.empty()) {
    text_ += ",\n  metadata_props: " + print_props(model.metadata);
  }
  text_ += "\n>\n";
  if (model.graph) graph(*model.graph, nullptr, nullptr);
  text_ += '\n';
  for (const Function& each : model.functions) function(each);
}

void Printer::function(const Function& function) {
  text_ += fmt::format("<\n  domain: {},\n  opset_import: {}", quote_string(function.domain),
                       print_opsets(function.opset_imports));
  if (!function.overload.empty()) {
    text_ += fmt::format(",\n  overload: {}", quote_string(function.overload));
  }
  if (!function.doc.empty())
    text_ += fmt::format(",\n  doc_string: {}", quote_string(function.doc));
  if (!function.metadata.empty()) {
    text_ += ",\n  metadata_props: " + print_props(function.metadata);
  }
  text_ += "\n>\n" + quote_name(function.name);
  const ValueNames names(*function.body, nullptr, nullptr);
  if (!function.attributes.empty() || !function.attribute_defaults.empty()) {
    std::string listed;
    for (const std::string& name : function.attributes) {
      listed += (listed.empty() ? "" : ", ") + quote_name(name);
    }
    text_ += " <" + listed;
    if (!function.attribute_defaults.empty()) {
      if (!listed.empty()) text_ += ", ";
      attributes(function.attribute_defaults, names, {});
    }
    text_ += '>';
  }
  text_ += ' ';
  signature(*function.body, names);
  body(*function.body, names);
  text_ += '\n';
}

void Printer::typed_name(const Graph& graph, ValueId id, const ValueNames& names) {
  const ValueType& type = graph.value(id).type;
  if (type.kind != ValueType::Kind::kUnknown) text_ += print_type(type, dims_) + ' ';
  text_ += quote_name(names.of(id));
}

void Printer::graph(const Graph& graph, const ValueNames* outer, const ValueIds* captures) {
  const ValueNames names(graph, outer, captures);
  text_ += quote_name(graph.name) + ' ';
  signature(graph, names);
  body(graph, names);
}

void Printer::signature(const Graph& graph, const ValueNames& names) {
  text_ += '(';
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    if (i != 0) text_ += ", ";
    const ValueId id = graph.inputs()[i];
    typed_name(graph, id, names);
    const Tensor& fallback = graph.input_default(i);
    if (!fallback.is_defined()) continue;
    text_ += " = " + print_tensor(fallback, options_.max_elements);
  }
  text_ += ") => (";
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    if (i != 0) text_ += ", ";
    typed_name(graph, graph.outputs()[i], names);
  }
  text_ += ')';
}

void Printer::values(const Graph& graph, const ValueNames& names) {
  bool any = false;
  const auto begin = [&] {
    text_ += std::exchange(any, true) ? "," : " <";
    line();
  };
  indent_ += 2;
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    const GraphValue& value = graph.value(id);
    if (!value.alive || !value.is_constant()) continue;
    begin();
    text_ += fmt::format("{}{} {} = {}", name_of(value.constant.type()),
                         to_string(value.constant.shape()), quote_name(names.of(id)),
                         print_tensor_values(value.constant, options_.max_elements));
  }
  for (size_t i = 0; options_.value_types && i < graph.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    const GraphValue& value = graph.value(id);
    if (!value.alive || value.producer == NodeId::kNone || graph.is_output(id) ||
        value.type.kind == ValueType::Kind::kUnknown) {
      continue;
    }
    begin();
    typed_name(graph, id, names);
  }
  indent_ -= 2;
  if (any) {
    line();
    text_ += '>';
  }
}

void Printer::body(const Graph& graph, const ValueNames& names) {
  values(graph, names);
  text_ += " {";
  indent_ += 2;
  for (NodeId id : graph.order()) {
    if (!graph.node(id).alive) continue;
    line();
    node(names, graph.node(id));
  }
  indent_ -= 2;
  line();
  text_ += '}';
}

// An absent value is an empty place; the last one is written "" so that it counts.
void Printer::uses(const ValueIds& ids, const ValueNames& names) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i != 0) text_ += ", ";
    if (ids[i] != ValueId::kNone) {
      text_ += quote_name(names.of(ids[i]));
    } else if (i + 1 == ids.size()) {
      text_ += "\"\"";
    }
  }
}

void Printer::node(const ValueNames& names, const Node& node) {
  if (!node.name.empty()) text_ += fmt::format("[{}] ", quote_name(node.name));
  uses(node.outputs, names);
  text_ += node.outputs.empty() ? "= " : " = ";
  for (size_t begin = 0; begin < node.domain.size();) {
    const size_t end = std::min(node.domain.find('.', begin), node.domain.size());
    text_ += quote_name(std::string_view(node.domain).substr(begin, end - begin)) + '.';
    begin = end + 1;
  }
  text_ += quote_name(node.op);
  if (!node.overload.empty()) text_ += ':' + quote_name(node.overload);
  if (!node.attributes.empty()) {
    text_ += " <";
    attributes(node.attributes, names, node.captures);
    text_ += "> ";
  }
  text_ += '(';
  uses(node.inputs, names);
  text_ += ')';
}

void Printer::attributes(const Attributes& attributes, const ValueNames& names,
                         const ValueIds& captures) {
  bool first = true;
  for (const auto& [name, value] : attributes) {
    if (!std::exchange(first, false)) text_ += ", ";
    text_ += quote_name(name);
    attribute(value, names, captures);
  }
}

struct AttributePrinter {
  std::string& text;
  const PrintOptions& options;

  template <typename T, typename F>
  void list(const char* kind, const std::vector<T>& values, F&& one) {
    if (values.empty()) text += fmt::format(": {}", kind);
    text += " = [";
    for (size_t i = 0; i < values.size(); ++i) {
      if (i != 0) text += ", ";
      one(values[i]);
    }
    text += ']';
  }
  void sparse(const SparseTensor& tensor) {
    text += fmt::format("sparse{} ({}, {})", to_string(tensor.shape),
                        print_tensor(tensor.values, options.max_elements),
                        print_tensor(tensor.indices, options.max_elements));
  }
};

const char* reference_kind(int type) {
  static constexpr const char* kKinds[] = {
      "undefined",      "float",      "int",        "string",  "tensor", "graph",
      "floats",         "ints",       "strings",    "tensors", "graphs", "sparse_tensor",
      "sparse_tensors", "type_proto", "type_protos"};
  return type >= 0 && type < static_cast<int>(std::size(kKinds)) ? kKinds[type] : kKinds[0];
}

void Printer::attribute(const AttributeValue& value, const ValueNames& names,
                        const ValueIds& captures) {
  AttributePrinter to{text_, options_};
  const auto print_graph = [&](const std::shared_ptr<Graph>& held) {
    indent_ += 2;
    graph(*held, &names, &captures);
    indent_ -= 2;
  };
  if (const auto* i = std::get_if<int64_t>(&value)) {
    text_ += fmt::format(" = {}", *i);
  } else if (const auto* f = std::get_if<float>(&value)) {
    text_ += " = " + print_float_attribute(*f);
  } else if (const auto* s = std::get_if<std::string>(&value)) {
    text_ += " = " + quote_string(*s);
  } else if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
    to.list("ints", *ints, [&](int64_t each) { text_ += std::to_string(each); });
  } else if (const auto* floats = std::get_if<std::vector<float>>(&value)) {
    to.list("floats", *floats, [&](float each) { text_ += print_float_attribute(each); });
  } else if (const auto* strings = std::get_if<std::vector<std::string>>(&value)) {
    to.list("strings", *strings, [&](const std::string& each) { text_ += quote_string(each); });
  } else if (const auto* tensor = get_held<Tensor>(value)) {
    text_ += " = " + print_tensor(*tensor, options_.max_elements);
  } else if (const auto* tensors = std::get_if<std::vector<Tensor>>(&value)) {
    to.list("tensors", *tensors,
            [&](const Tensor& each) { text_ += print_tensor(each, options_.max_elements); });
  } else if (const auto* sparse = get_held<SparseTensor>(value)) {
    text_ += " = ";
    to.sparse(*sparse);
  } else if (const auto* sparses = std::get_if<std::vector<SparseTensor>>(&value)) {
    to.list("sparse_tensors", *sparses, [&](const SparseTensor& each) { to.sparse(each); });
  } else if (const auto* held = std::get_if<std::shared_ptr<Graph>>(&value)) {
    text_ += " = ";
    print_graph(*held);
  } else if (const auto* graphs = std::get_if<std::vector<std::shared_ptr<Graph>>>(&value)) {
    to.list("graphs", *graphs, print_graph);
  } else if (const auto* type = get_held<ValueType>(value)) {
    text_ += ": type_proto = " + print_type(*type, dims_);
  } else if (const auto* types = std::get_if<std::vector<ValueType>>(&value)) {
    if (!types->empty()) text_ += ": type_protos";
    to.list("type_protos", *types,
            [&](const ValueType& each) { text_ += print_type(each, dims_); });
  } else if (const auto* ref = get_held<AttributeRef>(value)) {
    text_ += fmt::format(": {} = @{}", reference_kind(ref->type), quote_name(ref->name));
  }
}

}  // namespace

std::string print(const Model& model, const PrintOptions& options) {
  const DimTable none;
  Printer printer(options, model.graph ? model.graph->dims() : none);
  printer.model(model);
  return printer.take();
}

std::string print(const Graph& graph, const PrintOptions& options) {
  Printer printer(options, graph.dims());
  printer.graph(graph, nullptr, nullptr);
  return printer.take() + '\n';
}

std::string print_node(const Graph& graph, const Node& node, const PrintOptions& options) {
  Printer printer(options, graph.dims());
  printer.node(ValueNames(graph, nullptr, nullptr), node);
  return printer.take();
}

}  // namespace sardonyx
