// ExternalData: the files in the model's folder (onnx/model_folder.h) that hold weights outside the
// model. Sizes are checked against the file before anything is allocated. Used by read_tensor().
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/model_folder.h"

namespace sardonyx {

// Bytes and what keeps them alive (may be null: the caller does).
struct SharedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

class ExternalData {
 public:
  using Entries = std::vector<std::pair<std::string, std::string>>;

  // No files at all: any external tensor is an error that asks for a folder.
  ExternalData() = default;
  // For a model in a file.
  static ExternalData beside_model(const std::string& model_path);
  // For a model in memory.
  static ExternalData in_folder(const std::string& folder);

  // Files the caller holds in memory, by location; they win over the folder.
  void add_buffers(std::map<std::string, SharedBytes> buffers) { buffers_ = std::move(buffers); }

  // The bytes that `entries` (TensorProto.external_data) point at, which must be exactly
  // `size_bytes` many. Throws Error naming what is wrong; never shows contents of a file.
  SharedBytes find(const Entries& entries, size_t size_bytes);

 private:
  SharedBytes open(const std::string& location);

  ModelFolder folder_;
  std::map<std::string, SharedBytes> buffers_;
  std::map<std::string, SharedBytes> opened_;
};

}  // namespace sardonyx
