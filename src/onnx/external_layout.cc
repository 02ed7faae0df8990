#include "onnx/external_layout.h"

namespace sardonyx {

std::optional<ExternalLayout::Place> ExternalLayout::place(const Tensor& tensor) {
  if (tensor.type() == DataType::kString || tensor.size() == 0) return std::nullopt;
  if (tensor.size_bytes() < threshold_bytes_) return std::nullopt;
  const auto length = static_cast<uint64_t>(tensor.size_bytes());
  const auto alignment = static_cast<uint64_t>(alignment_);
  const uint64_t offset = (end_ + alignment - 1) / alignment * alignment;
  const auto [at, fresh] = offsets_.emplace(std::pair(tensor.raw(), length), offset);
  if (fresh) {
    const auto* first = static_cast<const std::byte*>(tensor.raw());
    parts_.push_back({offset, {first, static_cast<size_t>(length)}});
    end_ = offset + length;
  }
  return Place{at->second, length};
}

void ExternalLayout::write(StagedFile& file) const {
  for (const Part& part : parts_) {
    file.write_zeros(part.offset - file.size());
    file.write(part.bytes);
  }
}

}  // namespace sardonyx
