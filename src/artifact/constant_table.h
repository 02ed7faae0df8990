// ConstantTable: the constants of an artifact while it is written, each content once, with the
// place each gets. Tensors are shared with the caller, not copied. Called by ProgramEncoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "artifact/byte_writer.h"
#include "artifact/format.h"
#include "tensor/tensor.h"

namespace sardonyx::artifact {

class ConstantTable {
 public:
  // The number of the constant; kNone for an undefined tensor. Reads all of its bytes once. Throws
  // Error(kInvalidGraph) for more than 255 dimensions and for sequences within sequences.
  uint32_t add(const Tensor& tensor);

  // The table, as PROGRAM holds it; `out` starts where PROGRAM does.
  void write(ByteWriter& out) const;

  // Constants that lie in WEIGHTS, one after the other, each aligned to kConstantAlignment.
  const std::vector<Tensor>& weights() const { return weights_; }
  uint64_t weights_bytes() const { return weights_bytes_; }

 private:
  struct Entry {
    Tensor tensor;
    Placement placement;
    uint64_t offset;              // kWeights
    std::vector<uint32_t> items;  // kItems
  };

  std::vector<uint32_t> add_items(const Tensor& tensor);

  std::vector<Entry> entries_;
  std::vector<Tensor> weights_;
  uint64_t weights_bytes_ = 0;
  std::unordered_multimap<uint64_t, uint32_t> by_hash_;
};

}  // namespace sardonyx::artifact
