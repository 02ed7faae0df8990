#include "session/model_info.h"

#include <fmt/format.h>

#include <set>

namespace sardonyx {
namespace {

// The name that the model gave to a symbolic dim; the reader makes repeats unique with '#'.
std::string declared_name(const DimTable& dims, const Dim& dim) {
  const std::string* name = dims.symbol_name(dim);  // null: no plain symbol
  return name == nullptr ? "" : name->substr(0, name->find('#'));
}

std::string type_text(const ValueInfo& info) {
  std::string text = name_of(info.element_type);
  if (!info.has_shape) return text;
  text += '[';
  for (size_t i = 0; i < info.shape.size(); ++i) {
    if (i != 0) text += ',';
    if (info.shape[i] >= 0) {
      text += std::to_string(info.shape[i]);
    } else {
      text += info.symbols[i].empty() ? "?" : info.symbols[i];
    }
  }
  return text + ']';
}

}  // namespace

ModelMetadata metadata_of(const Model& model) {
  ModelMetadata metadata;
  metadata.producer_name = model.producer_name;
  metadata.producer_version = model.producer_version;
  metadata.domain = model.domain;
  metadata.graph_name = model.graph->name;
  metadata.description = model.doc;
  metadata.model_version = model.model_version;
  metadata.ir_version = model.ir_version;
  metadata.opset_imports = model.opset_imports;
  metadata.custom.insert(model.metadata.begin(), model.metadata.end());
  return metadata;
}

ValueInfo value_info_of(const Graph& graph, ValueId id) {
  const GraphValue& value = graph.value(id);
  ValueInfo info;
  info.name = value.name;
  info.type = print_type(value.type, graph.dims());
  info.element_type = value.type.is_tensor() ? value.type.element : ElementType::kUndefined;
  info.has_shape = value.type.is_tensor() && value.type.shape.has_value();
  if (!info.has_shape) return info;
  for (const Dim& dim : *value.type.shape) {
    info.shape.push_back(dim.is_known() ? dim.value : -1);
    info.symbols.push_back(declared_name(graph.dims(), dim));
  }
  info.type = type_text(info);
  return info;
}

ValueInfo merge_output_info(const ValueInfo& declared, const ValueInfo& inferred) {
  ValueInfo info = inferred;
  info.name = declared.name;
  if (!inferred.has_shape) {
    info = declared;
  } else if (declared.has_shape && declared.shape.size() == inferred.shape.size()) {
    info.symbols = declared.symbols;
  } else {
    // Names that inference made up mean nothing to the caller.
    info.symbols.assign(info.shape.size(), "");
  }
  if (info.element_type != ElementType::kUndefined) info.type = type_text(info);
  return info;
}

void override_free_dimensions(Graph& graph, const std::map<std::string, int64_t>& values) {
  std::set<std::string> seen;
  for (ValueId id : graph.inputs()) {
    SymShape& shape = graph.value(id).type.shape;
    if (!shape) continue;
    for (Dim& dim : *shape) {
      const std::string name = declared_name(graph.dims(), dim);
      if (name.empty()) continue;
      seen.insert(name);
      const auto found = values.find(name);
      if (found == values.end()) continue;
      if (found->second < 0) {
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("free dimension '{}' is set to {}; expected 0 or more", name,
                                found->second));
      }
      dim = Dim(found->second);
    }
  }
  for (const auto& [name, value] : values) {
    if (seen.contains(name)) continue;
    std::string known;
    for (const std::string& each : seen) known += (known.empty() ? "'" : ", '") + each + "'";
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the model's inputs have no free dimension '{}'; they have {}", name,
                            known.empty() ? "none" : known));
  }
}

}  // namespace sardonyx
