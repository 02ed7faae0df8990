// What a model file says that results do not depend on and that the IR has no place for: kept as it
// lies in the file, so that writing a model loses nothing. Filled by the ONNX reader, written out
// again by the ONNX writer; nobody else looks in.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sardonyx {

// Whole protobuf fields, tags included.
using RawFields = std::vector<std::byte>;

struct ValueFileFields {
  std::vector<std::byte> type;  // the declared TypeProto: denotations, names of inner dimensions
  RawFields info;               // of its ValueInfoProto
  RawFields tensor;             // of its initializer: documentation, metadata
};

struct AttributeFileFields {
  std::string name;
  RawFields attribute;             // documentation and the like
  std::vector<RawFields> tensors;  // of each tensor it holds: name, documentation, metadata

  bool empty() const {
    for (const RawFields& each : tensors) {
      if (!each.empty()) return false;
    }
    return attribute.empty();
  }
};

struct NodeFileFields {
  RawFields node;
  std::vector<AttributeFileFields> attributes;  // those of which there is anything to keep

  const AttributeFileFields* find(const std::string& name) const {
    for (const AttributeFileFields& each : attributes) {
      if (each.name == name) return &each;
    }
    return nullptr;
  }
};

}  // namespace sardonyx
