// GraphReader: GraphProto and function bodies to Graphs. Names become ids here: each use is
// resolved in its graph, then in the graphs around it (captures). Used by read_model() only.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/model.h"
#include "ir/scope.h"
#include "onnx/reader.h"
#include "onnx/tensor_proto.h"
#include "onnx/wire.h"

namespace sardonyx {

class GraphReader {
 public:
  GraphReader(Model& model, const ReadOptions& options, TensorSource source,
              std::shared_ptr<DimTable> dims)
      : model_(model), options_(options), source_(std::move(source)), dims_(std::move(dims)) {}

  std::unique_ptr<Graph> main_graph(WireCursor graph);
  // The fields of a FunctionProto that make its body.
  struct FunctionParts {
    std::string name;
    std::vector<std::string> inputs, outputs;
    std::vector<WireCursor> nodes, value_infos;
  };
  std::shared_ptr<Graph> function_body(const FunctionParts& parts);
  // AttributeProto outside a node: the default of a function's attribute.
  Attributes::Entry attribute_default(WireCursor attribute, NodeFileFields& fields);

  // Domains that nodes refer to.
  const std::set<std::string>& used_domains() const { return used_domains_; }

 private:
  struct Parts;
  struct AttributeParts;

  Parts split(WireCursor graph);
  std::unique_ptr<Graph> graph(WireCursor cursor, CaptureList* outer);
  std::vector<NamedTensor> read_initializers(const Parts& parts) const;
  void add_inputs(GraphScope& scope, const Parts& parts, bool is_main);
  void declare(GraphScope& scope, const std::string& name, ValueId id);
  void add_nodes(GraphScope& scope, const Parts& parts);
  void add_node(GraphScope& scope, WireCursor cursor, size_t index);
  void add_value_types(GraphScope& scope, const Parts& parts);
  void add_outputs(GraphScope& scope, const Parts& parts, bool is_main);

  Attributes::Entry attribute(WireCursor cursor, CaptureList* captures, NodeFileFields& fields);
  AttributeValue attribute_value(AttributeParts& parts, CaptureList* captures);
  int deduced_type(const AttributeParts& parts) const;
  std::shared_ptr<Graph> subgraph(WireCursor cursor, CaptureList* captures);
  Tensor dense(NamedSparseTensor sparse) const;

  [[noreturn]] void fail_undefined(const std::string& name) const;
  void warn(std::string message);

  Model& model_;
  const ReadOptions& options_;
  TensorSource source_;
  std::shared_ptr<DimTable> dims_;
  std::set<std::string> used_domains_;
  std::vector<const Parts*> open_;  // the graphs being read, outermost first
  bool in_function_ = false;
  int64_t nodes_ = 0;
};

// "" and "ai.onnx" are one domain.
inline std::string normal_domain(std::string domain) {
  return domain == "ai.onnx" ? std::string() : domain;
}

}  // namespace sardonyx
