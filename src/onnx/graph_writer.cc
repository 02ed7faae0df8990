#include "onnx/graph_writer.h"

#include <fmt/format.h>

#include <unordered_set>

#include "onnx/tensor_writer.h"
#include "onnx/type_proto.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

constexpr int64_t kFirstWithDefaults = 4;  // IR version; before, every initializer is an input

bool has_notes(const GraphValue& value) {
  return !value.doc.empty() || !value.metadata.empty() ||
         (value.file_fields &&
          (!value.file_fields->info.empty() || !value.file_fields->type.empty()));
}

RawFields tensor_fields(const GraphValue& value) {
  return value.file_fields ? value.file_fields->tensor : RawFields();
}

// The declared type as it lay in the file while it still says all that is known of the value.
void add_type(const GraphValue& value, const DimTable& dims, WireMessage& out) {
  const std::vector<std::byte> known = type_message(value.type, dims).take();
  if (value.file_fields && !value.file_fields->type.empty()) {
    const std::vector<std::byte>& declared = value.file_fields->type;
    if (!is_complete(value.type)) return out.bytes(2, declared);
    for (const DimRule rule : {DimRule::kOwnSymbols, DimRule::kUnknown}) {
      DimTable own;
      const ValueType read = read_type(WireCursor(declared, "TypeProto"), rule, value.name, own);
      if (type_message(read, own).result() == known) return out.bytes(2, declared);
    }
  }
  if (is_complete(value.type)) out.bytes(2, known);
}

}  // namespace

void add_entries(uint32_t field, const StringEntries& entries, WireMessage& out) {
  for (const auto& [key, value] : entries) {
    WireWriter entry;
    entry.text(1, key);
    entry.text(2, value);
    out.message(field, entry);
  }
}

void add_opset_imports(uint32_t field, const OpsetImports& imports, WireMessage& out) {
  for (const auto& [domain, version] : imports) {
    WireWriter import;
    import.text(1, domain);
    import.varint(2, static_cast<uint64_t>(version));
    out.message(field, import);
  }
}

WireMessage GraphWriter::main_graph(const Graph& graph) const { return this->graph(graph, {}); }

WireMessage GraphWriter::graph(const Graph& graph, const Outer& outer) const {
  const ValueNames names(graph, outer.names, outer.captures);
  WireMessage out;
  add_nodes(graph, names, 1, out);
  out.text(2, graph.name);
  add_initializers(graph, names, out);
  out.optional_text(10, graph.doc);
  add_inputs(graph, names, out);
  for (ValueId id : graph.outputs()) out.message(12, value_info(graph, id, names));
  add_value_infos(graph, names, out);
  add_entries(16, graph.metadata, out);
  out.put(graph.other_fields);
  return out;
}

WireMessage GraphWriter::function(const Function& function, const OpsetImports& imports) const {
  const Graph& body = *function.body;
  const ValueNames names(body, nullptr, nullptr);
  WireMessage out;
  out.text(1, function.name);
  for (ValueId id : body.inputs()) out.text(4, names.of(id));
  for (ValueId id : body.outputs()) out.text(5, names.of(id));
  for (const std::string& name : function.attributes) out.text(6, name);
  add_nodes(body, names, 7, out);
  out.optional_text(8, function.doc);
  add_opset_imports(9, imports, out);
  out.text(10, function.domain);
  for (const auto& [name, value] : function.attribute_defaults) {
    out.message(11, attribute(name, value, {}, function.file_fields.find(name)));
  }
  for (size_t i = 0; i < body.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    const GraphValue& value = body.value(id);
    if (!value.alive || (!is_complete(value.type) && !has_notes(value))) continue;
    if (value.is_constant()) {
      throw Error(ErrorCode::kInvalidGraph,
                  fmt::format("function '{}' holds the constant '{}', which a model file cannot "
                              "say; use a Constant node",
                              function.name, names.of(id)));
    }
    out.message(12, value_info(body, id, names));
  }
  out.optional_text(13, function.overload);
  add_entries(14, function.metadata, out);
  out.put(function.file_fields.node);
  return out;
}

void GraphWriter::add_nodes(const Graph& graph, const ValueNames& names, uint32_t field,
                            WireMessage& out) const {
  for (NodeId id : graph.order()) {
    if (graph.node(id).alive) out.message(field, node(graph, graph.node(id), names));
  }
}

WireMessage GraphWriter::node(const Graph& graph, const Node& node, const ValueNames& names) const {
  WireMessage out;
  const auto name_of_use = [&](ValueId id) {
    return id == ValueId::kNone || !graph.value(id).alive ? std::string() : names.of(id);
  };
  for (ValueId id : node.inputs) out.text(1, name_of_use(id));
  for (ValueId id : node.outputs) out.text(2, name_of_use(id));
  out.optional_text(3, node.name);
  out.text(4, node.op);
  for (const auto& [name, value] : node.attributes) {
    const auto* fields = node.file_fields ? node.file_fields->find(name) : nullptr;
    out.message(5, attribute(name, value, {&names, &node.captures}, fields));
  }
  out.optional_text(6, node.doc);
  out.optional_text(7, node.domain);
  out.optional_text(8, node.overload);
  add_entries(9, node.metadata, out);
  if (node.file_fields) out.put(node.file_fields->node);
  return out;
}

void GraphWriter::add_initializers(const Graph& graph, const ValueNames& names,
                                   WireMessage& out) const {
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Tensor& fallback = graph.input_default(i);
    if (!fallback.is_defined()) continue;
    const std::string& name = names.of(graph.inputs()[i]);
    if (ir_version_ < kFirstWithDefaults) {
      throw Error(ErrorCode::kInvalidGraph,
                  fmt::format("input '{}' has a default, which IR version {} cannot say; it takes "
                              "version {}",
                              name, ir_version_, kFirstWithDefaults));
    }
    const GraphValue& value = graph.value(graph.inputs()[i]);
    out.message(5, tensor_message(fallback, name, external_, tensor_fields(value)));
  }
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    const GraphValue& value = graph.value(id);
    if (!value.alive || !value.is_constant()) continue;
    out.message(5, tensor_message(value.constant, names.of(id), external_, tensor_fields(value)));
  }
}

void GraphWriter::add_inputs(const Graph& graph, const ValueNames& names, WireMessage& out) const {
  for (ValueId id : graph.inputs()) out.message(11, value_info(graph, id, names));
  if (ir_version_ >= kFirstWithDefaults) return;
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    const GraphValue& value = graph.value(id);
    if (value.alive && value.is_constant()) out.message(11, value_info(graph, id, names));
  }
}

void GraphWriter::add_value_infos(const Graph& graph, const ValueNames& names,
                                  WireMessage& out) const {
  std::unordered_set<ValueId> described;
  for (const auto* ids : {&graph.inputs(), &graph.outputs()}) {
    described.insert(ids->begin(), ids->end());
  }
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    const GraphValue& value = graph.value(id);
    if (!value.alive || described.contains(id)) continue;
    // The type of a constant is that of its tensor.
    const bool constant = value.is_constant() && ir_version_ >= kFirstWithDefaults;
    const bool result = value.producer != NodeId::kNone;
    if ((result && is_complete(value.type)) || ((result || constant) && has_notes(value))) {
      out.message(13, value_info(graph, id, names));
    }
  }
}

WireMessage GraphWriter::value_info(const Graph& graph, ValueId id, const ValueNames& names) const {
  const GraphValue& value = graph.value(id);
  WireMessage out;
  out.text(1, names.of(id));
  add_type(value, dims_, out);
  out.optional_text(3, value.doc);
  add_entries(4, value.metadata, out);
  if (value.file_fields) out.put(value.file_fields->info);
  return out;
}

}  // namespace sardonyx
