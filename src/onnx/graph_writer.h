// GraphWriter: Graphs, functions and attributes to messages; ids become names again. The messages
// borrow the bytes of tensors. Used by write_model() only.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ir/model.h"
#include "ir/value_names.h"
#include "onnx/external_layout.h"
#include "onnx/wire_message.h"

namespace sardonyx {

class GraphWriter {
 public:
  // `dims` is the table of every graph of the model. `external` takes the bytes of initializers;
  // null: they stay in the messages.
  GraphWriter(int64_t ir_version, const DimTable& dims, ExternalLayout* external)
      : ir_version_(ir_version), dims_(dims), external_(external) {}

  WireMessage main_graph(const Graph& graph) const;
  WireMessage function(const Function& function, const OpsetImports& imports) const;

 private:
  // What surrounds a subgraph.
  struct Outer {
    const ValueNames* names = nullptr;
    const ValueIds* captures = nullptr;
  };

  WireMessage graph(const Graph& graph, const Outer& outer) const;
  WireMessage node(const Graph& graph, const Node& node, const ValueNames& names) const;
  WireMessage attribute(const std::string& name, const AttributeValue& value, const Outer& outer,
                        const AttributeFileFields* fields) const;
  WireMessage value_info(const Graph& graph, ValueId id, const ValueNames& names) const;
  void add_nodes(const Graph& graph, const ValueNames& names, uint32_t field,
                 WireMessage& out) const;
  void add_initializers(const Graph& graph, const ValueNames& names, WireMessage& out) const;
  void add_inputs(const Graph& graph, const ValueNames& names, WireMessage& out) const;
  void add_value_infos(const Graph& graph, const ValueNames& names, WireMessage& out) const;

  int64_t ir_version_;
  const DimTable& dims_;
  ExternalLayout* external_;
};

using StringEntries = std::vector<std::pair<std::string, std::string>>;
void add_entries(uint32_t field, const StringEntries& entries, WireMessage& out);
void add_opset_imports(uint32_t field, const OpsetImports& imports, WireMessage& out);

}  // namespace sardonyx
