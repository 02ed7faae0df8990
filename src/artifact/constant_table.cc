#include "artifact/constant_table.h"

#include <fmt/format.h>

#include "artifact/hash.h"
#include "sardonyx/error.h"

namespace sardonyx::artifact {
namespace {

std::span<const std::byte> bytes_of(const Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.raw()), static_cast<size_t>(tensor.size_bytes())};
}

void write_strings(const Tensor& tensor, ByteWriter& out) {
  for (const std::string& value : tensor.values<std::string>()) out.text(value);
}

uint64_t content_hash(const Tensor& tensor, const std::vector<uint32_t>& items) {
  if (!holds_objects(tensor.type())) return short_hash_of(bytes_of(tensor));
  ByteWriter content;
  if (tensor.type() == DataType::kString) write_strings(tensor, content);
  for (uint32_t item : items) content.put(item);
  return short_hash_of(content.view());
}

uint8_t code_of(DataType type) {
  if (type == kSequenceType) return kSequenceCode;
  if (type == kOptionalType) return kOptionalCode;
  return static_cast<uint8_t>(type);
}

}  // namespace

uint32_t ConstantTable::add(const Tensor& tensor) {
  if (!tensor.is_defined()) return kNone;
  if (tensor.shape().size() > UINT8_MAX) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("a constant has {} dimensions; a compiled model can hold up to 255",
                            tensor.shape().size()));
  }
  Entry entry{tensor, Placement::kStrings, 0, {}};
  if (holds_values(tensor.type())) entry.items = add_items(tensor);
  const uint64_t hash = content_hash(tensor, entry.items);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (bitwise_equal(entries_[it->second].tensor, tensor)) return it->second;
  }
  if (holds_values(tensor.type())) {
    entry.placement = Placement::kItems;
  } else if (tensor.type() != DataType::kString) {
    const auto bytes = static_cast<uint64_t>(tensor.size_bytes());
    entry.placement = bytes <= kInlineBytes ? Placement::kInline : Placement::kWeights;
    if (entry.placement == Placement::kWeights) {
      entry.offset = align_up(weights_bytes_, kConstantAlignment);
      weights_bytes_ = entry.offset + bytes;
      weights_.push_back(tensor);
    }
  }
  const auto number = static_cast<uint32_t>(entries_.size());
  entries_.push_back(std::move(entry));
  by_hash_.emplace(hash, number);
  return number;
}

std::vector<uint32_t> ConstantTable::add_items(const Tensor& tensor) {
  std::vector<uint32_t> items;
  for (const Tensor& item : tensor.values<Tensor>()) {
    if (!item.is_defined() || item.type() == tensor.type() || item.type() == kOptionalType) {
      throw Error(ErrorCode::kInvalidGraph,
                  fmt::format("a constant {} holds a value of type {}; a compiled model has no "
                              "place for it",
                              name_of(tensor.type()), name_of(item.type())));
    }
    items.push_back(add(item));
  }
  return items;
}

void ConstantTable::write(ByteWriter& out) const {
  out.put_count(entries_.size());
  for (const Entry& entry : entries_) {
    const Tensor& tensor = entry.tensor;
    out.put(code_of(tensor.type()));
    out.put(entry.placement);
    out.put(static_cast<uint8_t>(tensor.shape().size()));
    for (int64_t dim : tensor.shape()) out.put(dim);
    switch (entry.placement) {
      case Placement::kStrings:
        write_strings(tensor, out);
        break;
      case Placement::kItems:
        for (uint32_t item : entry.items) out.put(item);
        break;
      case Placement::kInline:
        out.align(kConstantAlignment);
        out.bytes(bytes_of(tensor));
        break;
      case Placement::kWeights:
        out.put(entry.offset);
        break;
    }
  }
}

}  // namespace sardonyx::artifact
