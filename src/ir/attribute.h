// Attribute values of a node, as the standard defines them. Subgraphs are owned by the attribute.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ir/type.h"
#include "tensor/tensor.h"

namespace sardonyx {

class Graph;

struct SparseTensor {
  Tensor values;            // [NNZ]
  Tensor indices;           // int64 [NNZ] (linear) or [NNZ, rank]
  Shape shape;              // of the dense tensor
  Tensor to_dense() const;  // throws Error(kInvalidGraph) when an index lies outside
};

// A reference to an attribute of the enclosing model-local function.
struct AttributeRef {
  std::string name;
  int type = 0;  // AttributeProto.AttributeType, as declared
};

using AttributeValue = std::variant<
    int64_t, float, std::string, std::vector<int64_t>, std::vector<float>, std::vector<std::string>,
    Tensor, std::vector<Tensor>, SparseTensor, std::vector<SparseTensor>, std::shared_ptr<Graph>,
    std::vector<std::shared_ptr<Graph>>, ValueType, std::vector<ValueType>, AttributeRef>;

// "int", "float", "string", "ints", "floats", "strings", "tensor", "graph", ...: of the held kind.
const char* kind_name(const AttributeValue& value);

// A node's attributes: few, ordered as written, looked up by name.
class Attributes {
 public:
  using Entry = std::pair<std::string, AttributeValue>;

  const AttributeValue* find(std::string_view name) const;
  AttributeValue* find(std::string_view name);
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  // Adds or replaces.
  void set(std::string_view name, AttributeValue value);
  bool erase(std::string_view name);

  // The attribute, or `fallback` when it is absent. Throws Error(kInvalidGraph) naming the
  // attribute and both kinds when it has another kind.
  int64_t get_int(std::string_view name, int64_t fallback) const;
  float get_float(std::string_view name, float fallback) const;
  std::string get_string(std::string_view name, std::string_view fallback) const;
  std::vector<int64_t> get_ints(std::string_view name, std::vector<int64_t> fallback = {}) const;
  std::vector<float> get_floats(std::string_view name, std::vector<float> fallback = {}) const;
  std::vector<std::string> get_strings(std::string_view name) const;

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }

 private:
  std::vector<Entry> entries_;
};

}  // namespace sardonyx
