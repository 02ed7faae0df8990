#include "onnx/ep_context.h"

#include <fmt/format.h>

#include "onnx/graph_writer.h"
#include "onnx/value_info.h"
#include "onnx/wire.h"
#include "onnx/writer.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

constexpr uint64_t kContextAlignment = 64;
constexpr int64_t kMaxModelBytes = (int64_t{1} << 31) - 1;

// AttributeProto.AttributeType
constexpr int kInt = 2, kString = 3;

struct NodeParts {
  std::string_view op, domain, name;
  std::vector<WireCursor> attributes;
  std::vector<std::string> inputs, outputs;
};

bool is_ep_context(WireCursor node) {
  std::string_view op, domain;
  while (node.next()) {
    if (node.field() == 4) op = node.text();
    if (node.field() == 7) domain = node.text();
  }
  return op == kEpContextOp && domain == kEpContextDomain;
}

NodeParts split_node(WireCursor node) {
  NodeParts parts;
  while (node.next()) {
    switch (node.field()) {
      case 1:
        parts.inputs.push_back(node.string());
        break;
      case 2:
        parts.outputs.push_back(node.string());
        break;
      case 3:
        parts.name = node.text();
        break;
      case 5:
        parts.attributes.push_back(node.message("AttributeProto"));
        break;
      default:
        break;
    }
  }
  return parts;
}

struct AttributeParts {
  std::string_view name;
  int type = 0;
  int64_t i = 0;
  std::span<const std::byte> s;
};

AttributeParts split_attribute(WireCursor attribute) {
  AttributeParts parts;
  while (attribute.next()) {
    switch (attribute.field()) {
      case 1:
        parts.name = attribute.text();
        break;
      case 3:
        parts.i = attribute.int64();
        break;
      case 4:
        parts.s = attribute.bytes();
        break;
      case 20:
        parts.type = attribute.int32();
        break;
      default:
        break;
    }
  }
  return parts;
}

std::string as_text(std::span<const std::byte> bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

EpContextNode read_node(WireCursor cursor) {
  NodeParts parts = split_node(cursor);
  EpContextNode node;
  node.name = std::string(parts.name);
  node.inputs = std::move(parts.inputs);
  node.outputs = std::move(parts.outputs);
  for (const WireCursor& each : parts.attributes) {
    const AttributeParts attribute = split_attribute(each);
    const auto expect = [&](int type, const char* kind) {
      if (attribute.type == type || attribute.type == 0) return;
      throw Error(ErrorCode::kInvalidGraph,
                  fmt::format("EPContext node '{}': attribute '{}' has type {}, expected {}",
                              node.name, attribute.name, attribute.type, kind));
    };
    if (attribute.name == "main_context") {
      expect(kInt, "INT");
      node.is_main = attribute.i != 0;
    } else if (attribute.name == "embed_mode") {
      expect(kInt, "INT");
      node.is_embedded = attribute.i != 0;
    } else if (attribute.name == "ep_cache_context") {
      expect(kString, "STRING");
      node.cache_context = attribute.s;
    } else if (attribute.name == "source") {
      expect(kString, "STRING");
      node.source = as_text(attribute.s);
    } else if (attribute.name == "partition_name") {
      expect(kString, "STRING");
      node.partition_name = as_text(attribute.s);
    } else if (attribute.name == "notes") {
      expect(kString, "STRING");
      node.notes = as_text(attribute.s);
    }
  }
  return node;
}

EpContextInput read_value(WireCursor value_info) {
  EpContextInput value;
  while (value_info.next()) {
    if (value_info.field() == 1) value.name = value_info.string();
    if (value_info.field() == 2) value.type = value_info.message("TypeProto");
  }
  return value;
}

// A message around one field of it.
struct Split {
  std::span<const std::byte> before, field, after;
};

Split split_at(const WireCursor& cursor) {
  const std::span<const std::byte> all = cursor.all(), field = cursor.raw_field();
  const auto start = static_cast<size_t>(field.data() - all.data());
  return {all.first(start), cursor.bytes(), all.subspan(start + field.size())};
}

}  // namespace

std::optional<EpContextModel> find_ep_context(std::span<const std::byte> model) {
  EpContextModel found;
  WireCursor top(model, "ModelProto");
  while (top.next()) {
    if (top.field() != 7) continue;
    WireCursor graph = top.message("GraphProto");
    while (graph.next()) {
      switch (graph.field()) {
        case 1: {
          const WireCursor node = graph.message("NodeProto");
          if (is_ep_context(node)) {
            found.nodes.push_back(read_node(node));
          } else {
            ++found.other_nodes;
          }
          break;
        }
        case 5:
        case 15:
          ++found.initializers;
          break;
        case 11:
          found.graph_inputs.push_back(read_value(graph.message("ValueInfoProto")));
          break;
        case 12:
          found.graph_outputs.push_back(read_value(graph.message("ValueInfoProto")).name);
          break;
        default:
          break;
      }
    }
  }
  if (found.nodes.empty()) return std::nullopt;
  return found;
}

std::vector<std::pair<std::string, std::string>> read_model_metadata(
    std::span<const std::byte> model) {
  std::vector<std::pair<std::string, std::string>> metadata;
  WireCursor top(model, "ModelProto");
  while (top.next()) {
    if (top.field() != 14) continue;
    metadata.push_back(read_string_entry(top.message("StringStringEntryProto")));
  }
  return metadata;
}

void write_with_embedded_context(const Model& model, uint64_t context_bytes,
                                 const std::function<void()>& write_context,
                                 const std::function<void(std::span<const std::byte>)>& sink) {
  const std::vector<std::byte> plain = write_model(model);
  WireCursor top(plain, "ModelProto");
  while (top.next() && top.field() != 7) {
  }
  const Split graph = split_at(top);
  WireCursor in_graph = top.message("GraphProto");
  while (in_graph.next() && in_graph.field() != 1) {
  }
  const Split node = split_at(in_graph);
  // Spaces in the attribute's documentation move the context to its place. The sizes of the lengths
  // before it depend on their number, so it is found by trying.
  for (uint64_t padding = 0;; ++padding) {
    WireWriter in_attribute, in_node, in_whole_graph, before;
    in_attribute.text(1, "ep_cache_context");
    in_attribute.varint(20, kString);
    in_attribute.text(13, std::string(padding, ' '));
    in_attribute.begin_bytes(4, context_bytes);
    in_node.put(node.field);
    in_node.begin_bytes(5, in_attribute.result().size() + context_bytes);
    in_node.put(in_attribute.result());
    in_whole_graph.put(node.before);
    in_whole_graph.begin_bytes(1, in_node.result().size() + context_bytes);
    in_whole_graph.put(in_node.result());
    before.put(graph.before);
    before.begin_bytes(7, in_whole_graph.result().size() + context_bytes + node.after.size());
    before.put(in_whole_graph.result());
    const uint64_t total =
        before.result().size() + context_bytes + node.after.size() + graph.after.size();
    if (total > static_cast<uint64_t>(kMaxModelBytes)) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("the compiled model takes {} bytes, more than the {} that one ONNX "
                              "file may have; do not embed the compiled part (leave --embed out) "
                              "but let it have a file of its own",
                              total, kMaxModelBytes));
    }
    if (before.result().size() % kContextAlignment != 0 && padding <= 2 * kContextAlignment)
      continue;
    sink(before.result());
    write_context();
    sink(node.after);
    sink(graph.after);
    return;
  }
}

}  // namespace sardonyx
