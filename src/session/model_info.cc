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
  if (!info.item.empty()) {
    return fmt::format("{}({})", info.kind == ValueKind::kSequence ? "seq" : "optional",
                       type_text(info.item[0]));
  }
  if (info.kind == ValueKind::kNone) return info.type;
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

ValueInfo info_of_type(const ValueType& type, const DimTable& dims) {
  ValueInfo info;
  info.type = print_type(type, dims);
  if (type.holds_values() && type.inner) {
    info.kind =
        type.kind == ValueType::Kind::kSequence ? ValueKind::kSequence : ValueKind::kOptional;
    info.item.push_back(info_of_type(*type.inner, dims));
  } else if (type.is_tensor()) {
    info.kind = ValueKind::kTensor;
    info.element_type = type.element;
    info.has_shape = type.shape.has_value();
    for (size_t d = 0; type.shape && d < type.shape->size(); ++d) {
      const Dim& dim = (*type.shape)[d];
      info.shape.push_back(dim.is_known() ? dim.value : -1);
      info.symbols.push_back(declared_name(dims, dim));
    }
  }
  info.type = type_text(info);
  return info;
}

ValueInfo merge(const ValueInfo& declared, const ValueInfo& inferred) {
  if (inferred.kind != declared.kind) {
    return inferred.kind == ValueKind::kNone ? declared : inferred;
  }
  ValueInfo info = inferred;
  if (!inferred.item.empty()) {
    info.item[0] = merge(declared.item[0], inferred.item[0]);
  } else if (!inferred.has_shape) {
    info = declared;
  } else if (declared.has_shape && declared.shape.size() == inferred.shape.size()) {
    info.symbols = declared.symbols;
  } else {
    // Names that inference made up mean nothing to the caller.
    info.symbols.assign(info.shape.size(), "");
  }
  info.type = type_text(info);
  return info;
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
  ValueInfo info = info_of_type(value.type, graph.dims());
  info.name = value.name;
  return info;
}

ValueInfo merge_output_info(const ValueInfo& declared, const ValueInfo& inferred) {
  ValueInfo info = merge(declared, inferred);
  info.name = declared.name;
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
