#include "ir/attribute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sardonyx/error.h"

namespace sardonyx {

const char* kind_name(const AttributeValue& value) {
  static constexpr const char* kNames[] = {"int",     "float",  "string",  "ints",   "floats",
                                           "strings", "tensor", "tensors", "sparse", "sparses",
                                           "graph",   "graphs", "type",    "types",  "reference"};
  static_assert(std::size(kNames) == std::variant_size_v<AttributeValue>);
  return kNames[value.index()];
}

const AttributeValue* Attributes::find(std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.first == name) return &entry.second;
  }
  return nullptr;
}

AttributeValue* Attributes::find(std::string_view name) {
  return const_cast<AttributeValue*>(std::as_const(*this).find(name));
}

void Attributes::set(std::string_view name, AttributeValue value) {
  if (AttributeValue* present = find(name)) {
    *present = std::move(value);
  } else {
    // There are few, in many nodes: doubling would leave half of the memory for them unused.
    Entry entry(std::string(name), std::move(value));
    if (entries_.size() == entries_.capacity()) entries_.reserve(entries_.size() + 1);
    entries_.push_back(std::move(entry));
  }
}

bool Attributes::erase(std::string_view name) {
  const auto it = std::find_if(entries_.begin(), entries_.end(),
                               [&](const Entry& entry) { return entry.first == name; });
  if (it == entries_.end()) return false;
  entries_.erase(it);
  return true;
}

namespace {

template <typename T>
const T* get_as(const Attributes& attributes, std::string_view name, const char* expected) {
  const AttributeValue* value = attributes.find(name);
  if (value == nullptr) return nullptr;
  if (const T* typed = std::get_if<T>(value)) return typed;
  throw Error(ErrorCode::kInvalidGraph, fmt::format("attribute '{}' is of kind {}, expected {}",
                                                    name, kind_name(*value), expected));
}

}  // namespace

int64_t Attributes::get_int(std::string_view name, int64_t fallback) const {
  const int64_t* value = get_as<int64_t>(*this, name, "int");
  return value ? *value : fallback;
}
float Attributes::get_float(std::string_view name, float fallback) const {
  const float* value = get_as<float>(*this, name, "float");
  return value ? *value : fallback;
}
std::string Attributes::get_string(std::string_view name, std::string_view fallback) const {
  const std::string* value = get_as<std::string>(*this, name, "string");
  return value ? *value : std::string(fallback);
}
std::vector<int64_t> Attributes::get_ints(std::string_view name,
                                          std::vector<int64_t> fallback) const {
  const auto* value = get_as<std::vector<int64_t>>(*this, name, "ints");
  return value ? *value : std::move(fallback);
}
std::vector<float> Attributes::get_floats(std::string_view name,
                                          std::vector<float> fallback) const {
  const auto* value = get_as<std::vector<float>>(*this, name, "floats");
  return value ? *value : std::move(fallback);
}
std::vector<std::string> Attributes::get_strings(std::string_view name) const {
  const auto* value = get_as<std::vector<std::string>>(*this, name, "strings");
  return value ? *value : std::vector<std::string>();
}

Tensor SparseTensor::to_dense() const {
  Tensor dense = Tensor::allocate(values.type(), shape);
  const int bits = bits_of(values.type());
  if (bits != 0 && dense.size() != 0) {
    std::memset(dense.raw(), 0, static_cast<size_t>(dense.size_bytes()));
  }
  const int64_t nnz = values.size();
  const bool linear = indices.shape().size() == 1;
  const int64_t rank = static_cast<int64_t>(shape.size());
  const int64_t total = dense.size();
  const auto element_bytes = static_cast<size_t>(bits / 8);
  const int64_t* index = indices.data<int64_t>();
  for (int64_t i = 0; i < nnz; ++i) {
    int64_t at = 0;
    bool inside = true;
    if (linear) {
      at = index[i];
      inside = at >= 0 && at < total;
    } else {
      for (int64_t d = 0; d < rank; ++d) {
        const int64_t coordinate = index[i * rank + d];
        inside = inside && coordinate >= 0 && coordinate < shape[d];
        if (!inside) break;
        at = at * shape[d] + coordinate;
      }
    }
    if (!inside) {
      throw Error(ErrorCode::kInvalidGraph,
                  fmt::format("sparse tensor: index {} of {} lies outside shape {}", i, nnz,
                              to_string(shape)));
    }
    if (values.type() == DataType::kString) {
      dense.data<std::string>()[at] = values.data<std::string>()[i];
    } else if (bits < 8) {  // packed, first element in the low bits
      const int per_byte = 8 / bits;
      const unsigned mask = (1u << bits) - 1;
      const unsigned value = values.data<uint8_t>()[i / per_byte] >> (i % per_byte * bits) & mask;
      const auto shift = static_cast<unsigned>(at % per_byte * bits);
      uint8_t& byte = dense.data<uint8_t>()[at / per_byte];
      byte = static_cast<uint8_t>((byte & ~(mask << shift)) | (value << shift));
    } else {
      std::memcpy(dense.data<char>() + static_cast<size_t>(at) * element_bytes,
                  values.data<char>() + static_cast<size_t>(i) * element_bytes, element_bytes);
    }
  }
  return dense;
}

}  // namespace sardonyx
