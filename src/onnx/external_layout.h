// ExternalLayout: which tensors of a model that is being written go to its data file, and where
// they lie there. Filled by the graph writer, written out by write_model().
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/staged_file.h"
#include "tensor/tensor.h"

namespace sardonyx {

class ExternalLayout {
 public:
  ExternalLayout(std::string location, int64_t threshold_bytes, int64_t alignment)
      : location_(std::move(location)), threshold_bytes_(threshold_bytes), alignment_(alignment) {}

  struct Place {
    uint64_t offset = 0;
    uint64_t length = 0;
  };
  // Where the tensor's bytes will lie; nothing when they stay in the model. Tensors that share
  // their bytes share the place.
  std::optional<Place> place(const Tensor& tensor);

  const std::string& location() const { return location_; }
  bool empty() const { return parts_.empty(); }
  void write(StagedFile& file) const;

 private:
  struct Part {
    uint64_t offset;
    std::span<const std::byte> bytes;
  };
  std::string location_;
  int64_t threshold_bytes_;
  int64_t alignment_;
  uint64_t end_ = 0;
  std::vector<Part> parts_;
  std::map<std::pair<const void*, uint64_t>, uint64_t> offsets_;
};

}  // namespace sardonyx
