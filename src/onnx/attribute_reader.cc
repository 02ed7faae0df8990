// The attributes of nodes: AttributeProto to AttributeValue.
#include <fmt/format.h>

#include <bit>

#include "onnx/attribute_type.h"
#include "onnx/graph_reader.h"
#include "onnx/type_proto.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

const char* type_name(int type) {
  static constexpr const char* kNames[kAttributeTypeCount] = {
      "UNDEFINED",      "FLOAT",      "INT",        "STRING",  "TENSOR", "GRAPH",
      "FLOATS",         "INTS",       "STRINGS",    "TENSORS", "GRAPHS", "SPARSE_TENSOR",
      "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};
  return type >= 0 && type < kAttributeTypeCount ? kNames[type] : "unknown";
}

[[noreturn]] void reject(const std::string& message) {
  throw Error(ErrorCode::kInvalidGraph, message);
}

}  // namespace

struct GraphReader::AttributeParts {
  std::string name, reference;
  int type = kAttributeUndefined;
  unsigned present = 0;  // bit t: a field of type t occurs
  float f = 0;
  int64_t i = 0;
  std::string s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  std::vector<WireCursor> messages;  // tensors, graphs, sparse tensors or types
  AttributeFileFields fields;
};

// A file of IR version 1 names no type; its field tells.
int GraphReader::deduced_type(const AttributeParts& parts) const {
  if (model_.ir_version >= 2 || std::popcount(parts.present) != 1) {
    reject("it has no type; the field is mandatory since IR version 2");
  }
  return std::countr_zero(parts.present);
}

Attributes::Entry GraphReader::attribute(WireCursor cursor, CaptureList* captures,
                                         NodeFileFields& fields) {
  AttributeParts parts;
  const auto mark = [&](AttributeType type) { parts.present |= 1u << type; };
  const auto keep = [&](AttributeType type, const char* message) {
    mark(type);
    parts.messages.push_back(cursor.message(message));
  };
  while (cursor.next()) {
    switch (cursor.field()) {
      case 1:
        parts.name = cursor.string();
        break;
      case 2:
        mark(kAttributeFloat);
        parts.f = cursor.float32();
        break;
      case 3:
        mark(kAttributeInt);
        parts.i = cursor.int64();
        break;
      case 4:
        mark(kAttributeString);
        parts.s = cursor.string();
        break;
      case 5:
        keep(kAttributeTensor, "TensorProto");
        break;
      case 6:
        keep(kAttributeGraph, "GraphProto");
        break;
      case 7:
        mark(kAttributeFloats);
        cursor.append_to(parts.floats);
        break;
      case 8:
        mark(kAttributeInts);
        cursor.append_to(parts.ints);
        break;
      case 9:
        mark(kAttributeStrings);
        parts.strings.push_back(cursor.string());
        break;
      case 10:
        keep(kAttributeTensors, "TensorProto");
        break;
      case 11:
        keep(kAttributeGraphs, "GraphProto");
        break;
      case 14:
        keep(kAttributeType, "TypeProto");
        break;
      case 15:
        keep(kAttributeTypes, "TypeProto");
        break;
      case 20:
        parts.type = cursor.int32();
        break;
      case 21:
        parts.reference = cursor.string();
        break;
      case 22:
        keep(kAttributeSparseTensor, "SparseTensorProto");
        break;
      case 23:
        keep(kAttributeSparseTensors, "SparseTensorProto");
        break;
      default:
        cursor.append_raw_to(parts.fields.attribute);
        break;
    }
  }
  if (parts.name.empty()) reject("an attribute has no name");
  try {
    AttributeValue value = attribute_value(parts, captures);
    if (!parts.fields.empty()) {
      parts.fields.name = parts.name;
      fields.attributes.push_back(std::move(parts.fields));
    }
    return {std::move(parts.name), std::move(value)};
  } catch (const Error& error) {
    throw error.with_context(fmt::format("attribute '{}'", parts.name));
  }
}

Attributes::Entry GraphReader::attribute_default(WireCursor cursor, NodeFileFields& fields) {
  return attribute(cursor, nullptr, fields);
}

AttributeValue GraphReader::attribute_value(AttributeParts& parts, CaptureList* captures) {
  if (parts.type < kAttributeUndefined || parts.type >= kAttributeTypeCount) {
    reject(fmt::format("its type is {}, known are 1 to {}", parts.type, kAttributeTypeCount - 1));
  }
  if (!parts.reference.empty()) {
    if (!in_function_) reject("it refers to an attribute of a function, but stands in no function");
    if (parts.present != 0) reject("it has a value and refers to an attribute of its function");
    return AttributeRef{parts.reference, parts.type};
  }
  const int type = parts.type == kAttributeUndefined ? deduced_type(parts) : parts.type;
  // Absent is what some writers make of 0 and of an empty list; another field is a contradiction.
  if ((parts.present & ~(1u << type)) != 0) {
    reject(fmt::format("it is declared {} but holds {}", type_name(type),
                       type_name(std::countr_zero(parts.present & ~(1u << type)))));
  }
  const bool single = type == kAttributeTensor || type == kAttributeGraph ||
                      type == kAttributeSparseTensor || type == kAttributeType;
  if (single && parts.messages.size() != 1) {
    reject(fmt::format("it is declared {} and holds {} of them, expected one", type_name(type),
                       parts.messages.size()));
  }
  const auto read_all = [&](auto&& read) {
    std::vector<decltype(read(parts.messages[0]))> values;
    for (const WireCursor& message : parts.messages) values.push_back(read(message));
    return values;
  };
  const auto tensor = [&](const WireCursor& message) {
    NamedTensor read = read_tensor(message, source_);
    WireWriter kept;
    if (!read.name.empty()) kept.text(8, read.name);
    kept.put(read.other_fields);
    parts.fields.tensors.push_back(kept.take());
    return std::move(read.tensor);
  };
  const auto sparse = [&](const WireCursor& message) {
    return read_sparse_tensor(message, source_).tensor;
  };
  const auto graph = [&](const WireCursor& message) { return subgraph(message, captures); };
  const auto type_proto = [&](const WireCursor& message) {
    return read_type(message, DimRule::kUnknown, parts.name, *dims_);
  };
  switch (type) {
    case kAttributeFloat:
      return parts.f;
    case kAttributeInt:
      return parts.i;
    case kAttributeString:
      return std::move(parts.s);
    case kAttributeTensor:
      return tensor(parts.messages[0]);
    case kAttributeGraph:
      return graph(parts.messages[0]);
    case kAttributeFloats:
      return std::move(parts.floats);
    case kAttributeInts:
      return std::move(parts.ints);
    case kAttributeStrings:
      return std::move(parts.strings);
    case kAttributeTensors:
      return read_all(tensor);
    case kAttributeGraphs:
      return read_all(graph);
    case kAttributeSparseTensor:
      return sparse(parts.messages[0]);
    case kAttributeSparseTensors:
      return read_all(sparse);
    case kAttributeType:
      return type_proto(parts.messages[0]);
    case kAttributeTypes:
      return read_all(type_proto);
    default:
      reject("it has no type");
  }
}

}  // namespace sardonyx
