// Graph: nodes and values behind strong ids; values are in SSA form. Deleting leaves a hole, so ids
// stay valid for the life of a graph. A subgraph (of If, Loop, Scan) is a Graph of its own that
// names the outer values it uses in `captures`; the node that holds it lists them as implicit
// inputs. Passes edit through the methods, which keep users and producers true.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/small_vector.h"
#include "ir/attribute.h"
#include "ir/dim.h"
#include "ir/file_fields.h"
#include "ir/type.h"
#include "tensor/tensor.h"

namespace sardonyx {

enum class ValueId : int32_t { kNone = -1 };
enum class NodeId : int32_t { kNone = -1 };
using ValueIds = SmallVector<ValueId, 4>;
using NodeIds = SmallVector<NodeId, 4>;

struct GraphValue {
  std::string name;  // unique in its graph once set; passes may leave it empty
  ValueType type;
  Tensor constant;                  // defined: the value is this constant
  std::optional<Dims> ints;         // known or symbolic elements of a small integer tensor
  NodeId producer = NodeId::kNone;  // kNone: input, capture or constant
  int output_index = 0;             // among the producer's outputs
  NodeIds users;                    // one entry per use as input or implicit input
  bool alive = true;
  std::string doc;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::shared_ptr<const ValueFileFields> file_fields;  // null: none

  bool is_constant() const { return constant.is_defined(); }
};

struct Node {
  std::string domain;  // "" is ai.onnx
  std::string op;
  std::string overload;  // of a model-local function
  int version = 0;       // since_version of the schema it binds to; 0 until resolved
  std::string name;      // provenance: the name in the model; rewrites join with '+'
  ValueIds inputs;       // kNone for an absent optional
  ValueIds outputs;      // kNone for an absent optional
  Attributes attributes;
  ValueIds captures;  // outer values that this node's subgraphs use (edits may repeat one)
  std::string doc;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::shared_ptr<const NodeFileFields> file_fields;  // null: none
  bool alive = true;

  ValueId input(size_t i) const { return i < inputs.size() ? inputs[i] : ValueId::kNone; }
  ValueId output(size_t i) const { return i < outputs.size() ? outputs[i] : ValueId::kNone; }
  bool is(std::string_view op_name, std::string_view in_domain = "") const {
    return op == op_name && domain == in_domain;
  }
};

// A value of a subgraph that stands for a value of the graph around it.
struct Capture {
  ValueId inner;  // in this graph
  int index;      // into the holding node's `captures`
};

class Graph {
 public:
  explicit Graph(std::shared_ptr<DimTable> dims = std::make_shared<DimTable>())
      : dims_(std::move(dims)) {}

  std::string name;
  std::string doc;
  std::vector<std::pair<std::string, std::string>> metadata;
  // Of the model file: quantization annotations, descriptions of values that are not there, unknown
  // fields.
  RawFields other_fields;

  DimTable& dims() const { return *dims_; }
  const std::shared_ptr<DimTable>& shared_dims() const { return dims_; }

  GraphValue& value(ValueId id) { return values_[static_cast<size_t>(id)]; }
  const GraphValue& value(ValueId id) const { return values_[static_cast<size_t>(id)]; }
  Node& node(NodeId id) { return nodes_[static_cast<size_t>(id)]; }
  const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  size_t value_count() const { return values_.size(); }  // holes included
  size_t node_count() const { return nodes_.size(); }    // holes included

  // Living nodes, in execution order (after sort() when edits were made).
  const std::vector<NodeId>& order() const { return order_; }

  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }
  const std::vector<Capture>& captures() const { return captures_; }
  // Default of an overridable input (IR >= 4); undefined tensor when there is none.
  const Tensor& input_default(size_t input_index) const { return defaults_[input_index]; }

  ValueId add_value(std::string_view value_name, ValueType type = {});
  ValueId add_input(std::string_view value_name, ValueType type, Tensor default_value = {});
  ValueId add_constant(std::string_view value_name, Tensor tensor);
  ValueId add_capture(std::string_view value_name, ValueType type, int capture_index);
  void add_output(ValueId id);
  void set_output(size_t i, ValueId id);
  void set_inputs(std::vector<ValueId> ids, std::vector<Tensor> defaults);

  // Appends; registers its uses and makes it the producer of its outputs.
  NodeId add_node(Node node);
  // Detaches the node; its outputs lose their producer and die unless they are graph outputs.
  void remove_node(NodeId id);
  void set_input(NodeId id, size_t i, ValueId to);
  void add_node_capture(NodeId id, ValueId outer);
  // Replaces a node's captures; the subgraphs' own lists must be set to match.
  void set_node_captures(NodeId id, const ValueIds& outer);
  void set_captures(std::vector<Capture> captures) { captures_ = std::move(captures); }
  // Every use (inputs, implicit inputs, graph outputs) of `from` becomes a use of `to`.
  void replace_uses(ValueId from, ValueId to);
  // Turns a value into a constant: its producer is removed when nothing else of it is used.
  void make_constant(ValueId id, Tensor tensor);

  bool is_output(ValueId id) const;
  bool is_input(ValueId id) const;
  // Uses by living nodes plus uses as a graph output.
  size_t use_count(ValueId id) const;

  // Stable topological order; removes dead ids from order(). Throws Error(kInvalidGraph) naming a
  // node on a cycle.
  void sort();

  // Deep copy, subgraphs included.
  std::unique_ptr<Graph> clone() const;

 private:
  void remove_user(ValueId id, NodeId user);

  std::vector<GraphValue> values_;
  std::vector<Node> nodes_;
  std::vector<NodeId> order_;
  std::vector<ValueId> inputs_;
  std::vector<Tensor> defaults_;
  std::vector<ValueId> outputs_;
  std::vector<uint32_t> output_uses_;  // of each value, how many of outputs_ it is
  std::vector<Capture> captures_;
  std::shared_ptr<DimTable> dims_;
};

// Calls `visit` for every subgraph that the node's attributes hold.
void for_each_subgraph(const Node& node,
                       const std::function<void(const std::string& attribute, Graph&)>& visit);

// "Conv 'conv1' (ai.onnx, version 11)": how messages name a node.
std::string describe(const Node& node);

}  // namespace sardonyx
