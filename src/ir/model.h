// Model: a graph with what stands around it in an ONNX file: versions, model-local functions,
// metadata.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace sardonyx {

// Domain -> version; the default domain is "".
using OpsetImports = std::map<std::string, int64_t>;

// A model-local function. Its body is a graph without types whose inputs and outputs are the formal
// parameters; attributes of body nodes may be AttributeRefs to the function's attributes.
struct Function {
  std::string domain;
  std::string name;
  std::string overload;
  std::vector<std::string> attributes;  // names without a default
  Attributes attribute_defaults;
  OpsetImports opset_imports;
  std::shared_ptr<Graph> body;
  std::string doc;
  std::vector<std::pair<std::string, std::string>> metadata;
  NodeFileFields file_fields;  // of the function; `attributes` are its defaults
};

struct Model {
  int64_t ir_version = 0;
  OpsetImports opset_imports;
  std::string producer_name;
  std::string producer_version;
  std::string domain;
  int64_t model_version = 0;
  std::string doc;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<Function> functions;
  std::unique_ptr<Graph> graph;
  // Of the model file: training_info, device configurations, unknown fields.
  RawFields other_fields;
  // What was odd but accepted: unused opset imports, newer IR, stale shapes.
  std::vector<std::string> warnings;

  const Function* find_function(const std::string& in_domain, const std::string& function_name,
                                const std::string& overload) const;
};

}  // namespace sardonyx
