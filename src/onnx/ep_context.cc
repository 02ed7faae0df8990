#include "onnx/ep_context.h"

#include <fmt/format.h>

#include "onnx/graph_writer.h"
#include "onnx/value_info.h"
#include "onnx/wire.h"
#include "onnx/writer.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

constexpr uint64_t kBlobAlignment = 64;
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
    }
  }
  return node;
}

std::string name_of_value(WireCursor value_info) {
  std::string name;
  while (value_info.next()) {
    if (value_info.field() == 1) name = value_info.string();
  }
  return name;
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
          found.graph_inputs.push_back(name_of_value(graph.message("ValueInfoProto")));
          break;
        case 12:
          found.graph_outputs.push_back(name_of_value(graph.message("ValueInfoProto")));
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

void write_with_embedded_context(const Model& model, std::span<const std::byte> blob,
                                 const std::function<void(std::span<const std::byte>)>& sink) {
  const std::vector<std::byte> plain = write_model(model);
  // `padding` spaces in the attribute's documentation move the blob to its place. The sizes of the
  // lengths around it depend on the padding, so it is found by trying.
  const auto build = [&](uint64_t padding, uint64_t& blob_offset) {
    WireMessage out;
    WireCursor top(plain, "ModelProto");
    while (top.next()) {
      if (top.field() != 7) {
        out.put(top.raw_field());
        continue;
      }
      WireMessage graph_out;
      uint64_t behind_blob = 0;  // bytes of the graph after the blob
      WireCursor graph = top.message("GraphProto");
      while (graph.next()) {
        const bool is_node = graph.field() == 1;
        if (!is_node || !is_ep_context(graph.message("NodeProto"))) {
          graph_out.put(graph.raw_field());
          behind_blob += graph.raw_field().size();
          continue;
        }
        WireMessage attribute;
        attribute.text(1, "ep_cache_context");
        attribute.varint(20, kString);
        attribute.text(13, std::string(padding, ' '));
        attribute.borrow(4, blob);
        WireMessage node;
        node.put(graph.bytes());
        node.message(5, attribute);
        graph_out.message(1, node);
        behind_blob = 0;
      }
      out.message(7, graph_out);
      blob_offset = out.size() - behind_blob - blob.size();
    }
    return out;
  };
  for (uint64_t padding = 0;; ++padding) {
    uint64_t offset = 0;
    const WireMessage message = build(padding, offset);
    if (message.size() > static_cast<uint64_t>(kMaxModelBytes)) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("the compiled model takes {} bytes, more than the {} that one ONNX "
                              "file may have; write the compiled part into a file of its own",
                              message.size(), kMaxModelBytes));
    }
    if (offset % kBlobAlignment == 0 || padding > 2 * kBlobAlignment) {
      message.for_each_piece(sink);
      return;
    }
  }
}

}  // namespace sardonyx
