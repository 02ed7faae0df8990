// read_model(): an ONNX file, or its bytes, to a Model. Everything stays as written: functions are
// calls, Constant nodes are nodes, weights are views into the file wherever their alignment allows
// (the Model keeps the mapping alive; whoever keeps tensors past the load copies them, because the
// file may be overwritten). Bytes are hostile: every error is a sardonyx::Error that names what was
// found, what was expected and where. Knows no operators. Called by session and tools.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "ir/model.h"
#include "onnx/external_data.h"

namespace sardonyx {

inline constexpr int64_t kNewestIrVersion = 14;  // files of a newer one load with a warning

struct ReadOptions {
  // For a model in memory: where its external data lies. A model in a file uses its own folder.
  std::string base_folder;
  // External data held in memory, by location; wins over files.
  std::map<std::string, SharedBytes> external_buffers;

  // Limits; exceeding one is Error(kInvalidGraph) that names it.
  int max_subgraph_depth = 64;                 // If in Loop in If ...
  int64_t max_nodes = 16'000'000;              // of all graphs and functions together
  int64_t max_dense_bytes = int64_t{1} << 31;  // of one sparse initializer made dense
};

// Throws, for bytes that are no model, what read_model() does, from the outermost fields alone.
void check_is_model(std::span<const std::byte> bytes);

std::unique_ptr<Model> read_model(const std::string& path, const ReadOptions& options = {});

// `owner` keeps `bytes` alive; null: the caller may free them after the call, so weights are
// copied.
std::unique_ptr<Model> read_model(std::span<const std::byte> bytes,
                                  std::shared_ptr<const void> owner,
                                  const ReadOptions& options = {});

}  // namespace sardonyx
