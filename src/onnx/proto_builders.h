// Protobuf messages by hand, right and wrong ones, for the tests of this module. Each function
// returns the writer so that a test can add any field to it. Included by tests only.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "onnx/wire.h"

namespace sardonyx::proto {

using Message = WireWriter;

// Dimensions below 0 are left out: nothing is said of them. Text gives a dim_param.
struct DimText {
  int64_t value = -1;
  std::string_view param;
  template <std::integral T>
  DimText(T number) : value(number) {}                   // NOLINT
  DimText(const char* name) : value(-1), param(name) {}  // NOLINT
};

inline Message tensor(std::string_view name, int type, std::initializer_list<int64_t> dims) {
  Message m;
  for (int64_t dim : dims) m.varint(1, static_cast<uint64_t>(dim));
  m.varint(2, static_cast<uint64_t>(type));
  m.text(8, name);
  return m;
}

inline Message raw_tensor(std::string_view name, int type, std::initializer_list<int64_t> dims,
                          std::string_view raw) {
  Message m = tensor(name, type, dims);
  m.text(9, raw);
  return m;
}

inline Message float_tensor(std::string_view name, std::initializer_list<int64_t> dims,
                            const std::vector<float>& values) {
  Message m = tensor(name, 1, dims);
  m.bytes(4, std::as_bytes(std::span(values)));
  return m;
}

inline Message entry(std::string_view key, std::string_view value) {
  Message m;
  m.text(1, key);
  m.text(2, value);
  return m;
}

inline Message tensor_type(int element, std::initializer_list<DimText> dims) {
  Message shape;
  for (const DimText& dim : dims) {
    Message d;
    if (!dim.param.empty()) {
      d.text(2, dim.param);
    } else {
      d.varint(1, static_cast<uint64_t>(dim.value));
    }
    shape.message(1, d);
  }
  Message inner;
  inner.varint(1, static_cast<uint64_t>(element));
  inner.message(2, shape);
  Message m;
  m.message(1, inner);
  return m;
}

inline Message value_info(std::string_view name, const Message& type) {
  Message m;
  m.text(1, name);
  m.message(2, type);
  return m;
}

inline Message value(std::string_view name, int element, std::initializer_list<DimText> dims) {
  return value_info(name, tensor_type(element, dims));
}

inline Message node(std::string_view op, std::initializer_list<std::string_view> inputs,
                    std::initializer_list<std::string_view> outputs, std::string_view domain = {}) {
  Message m;
  for (std::string_view name : inputs) m.text(1, name);
  for (std::string_view name : outputs) m.text(2, name);
  m.text(4, op);
  if (!domain.empty()) m.text(7, domain);
  return m;
}

// An attribute of AttributeProto.type `type` whose value is added by the caller.
inline Message attribute(std::string_view name, int type) {
  Message m;
  m.text(1, name);
  m.varint(20, static_cast<uint64_t>(type));
  return m;
}

inline Message int_attribute(std::string_view name, int64_t number) {
  Message m = attribute(name, 2);
  m.varint(3, static_cast<uint64_t>(number));
  return m;
}

inline Message graph_attribute(std::string_view name, const Message& graph) {
  Message m = attribute(name, 5);
  m.message(6, graph);
  return m;
}

inline Message opset(std::string_view domain, int64_t version) {
  Message m;
  if (!domain.empty()) m.text(1, domain);
  m.varint(2, static_cast<uint64_t>(version));
  return m;
}

// A graph field by field: g.message(1, node), (5, initializer), (11, input), (12, output).
inline Message model(const Message& graph, int64_t ir_version = 8) {
  Message m;
  m.varint(1, static_cast<uint64_t>(ir_version));
  m.message(7, graph);
  m.message(8, opset("", 17));
  return m;
}

// x -> Relu -> y, named g.
inline Message small_graph() {
  Message g;
  g.message(1, node("Relu", {"x"}, {"y"}));
  g.text(2, "g");
  g.message(11, value("x", 1, {"batch", 3}));
  g.message(12, value("y", 1, {"batch", 3}));
  return g;
}

}  // namespace sardonyx::proto
