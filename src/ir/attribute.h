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

// A value in memory of its own; a copy copies it.
template <typename T>
class Boxed {
 public:
  Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}
  Boxed(const Boxed& other) : Boxed(other.unboxed()) {}
  Boxed(Boxed&& other) noexcept = default;
  Boxed& operator=(const Boxed& other) { return *this = Boxed(other); }
  Boxed& operator=(Boxed&& other) noexcept = default;

  const T& unboxed() const { return *value_; }
  T& unboxed() { return *value_; }
  operator const T&() const { return *value_; }

 private:
  std::unique_ptr<T> value_;
};

// What is large is boxed: a model has thousands of attributes, most of them numbers.
using AttributeValue =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                 std::vector<std::string>, Boxed<Tensor>, std::vector<Tensor>, Boxed<SparseTensor>,
                 std::vector<SparseTensor>, std::shared_ptr<Graph>,
                 std::vector<std::shared_ptr<Graph>>, Boxed<ValueType>, std::vector<ValueType>,
                 Boxed<AttributeRef>>;

// The value held by any alternative, for visitors.
template <typename T>
T& unboxed(T& value) {
  return value;
}
template <typename T>
const T& unboxed(const Boxed<T>& value) {
  return value.unboxed();
}
template <typename T>
T& unboxed(Boxed<T>& value) {
  return value.unboxed();
}

// The T that the attribute holds, boxed or not; null when it holds something else.
template <typename T>
T* get_held(AttributeValue& value) {
  if constexpr (std::is_constructible_v<AttributeValue, std::in_place_type_t<Boxed<T>>, T>) {
    auto* box = std::get_if<Boxed<T>>(&value);
    return box != nullptr ? &box->unboxed() : nullptr;
  } else {
    return std::get_if<T>(&value);
  }
}
template <typename T>
const T* get_held(const AttributeValue& value) {
  return get_held<T>(const_cast<AttributeValue&>(value));
}

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
