// EPContext: how a compiled model stands in an ONNX file. A node of domain com.microsoft, version
// 1, stands for a part that a provider compiled; its attribute ep_cache_context holds the compiled
// bytes (embed_mode 1) or the path of a file beside the model (embed_mode 0). Finding such nodes
// and the metadata of a model reads neither weights nor embedded bytes. Called by session.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/model.h"
#include "onnx/wire.h"

namespace sardonyx {

inline constexpr std::string_view kEpContextDomain = "com.microsoft";
inline constexpr std::string_view kEpContextOp = "EPContext";

struct EpContextNode {
  std::string name;
  std::string source;  // the provider that compiled it: "CPUExecutionProvider"
  std::string partition_name;
  std::string notes;    // of the provider
  bool is_main = true;  // false: another node of the model holds the bytes
  bool is_embedded = true;
  std::span<const std::byte> cache_context;  // in the file; the bytes, or a path in UTF-8
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

struct EpContextInput {
  std::string name;
  WireCursor type;  // a TypeProto; empty when none is declared
};

// The main graph as far as it tells what is compiled.
struct EpContextModel {
  std::vector<EpContextNode> nodes;
  size_t other_nodes = 0;
  size_t initializers = 0;
  std::vector<EpContextInput> graph_inputs;
  std::vector<std::string> graph_outputs;
};

// nullopt when the main graph has no EPContext node. Views point into `model`. Throws
// Error(kInvalidProtobuf) for bytes that are no ONNX file and Error(kInvalidGraph) for a node whose
// attributes are of the wrong kind.
std::optional<EpContextModel> find_ep_context(std::span<const std::byte> model);

// The model's metadata_props, in order; reads nothing else. Throws Error(kInvalidProtobuf).
std::vector<std::pair<std::string, std::string>> read_model_metadata(
    std::span<const std::byte> model);

// Writes `model`, whose main graph has one node, an EPContext without the attribute
// ep_cache_context, to `sink`, and in the middle of it calls `write_context`, which writes that
// attribute's `context_bytes` bytes to the same place. They start at a multiple of 64 bytes:
// whoever maps the file can use them there. Throws Error(kInvalidArgument) before anything is
// written when the file would be larger than the 2 GiB that readers accept.
void write_with_embedded_context(const Model& model, uint64_t context_bytes,
                                 const std::function<void()>& write_context,
                                 const std::function<void(std::span<const std::byte>)>& sink);

}  // namespace sardonyx
