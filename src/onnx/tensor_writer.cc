// Tensor to TensorProto.
#include "onnx/tensor_writer.h"

#include <fmt/format.h>

#include "base/staged_file.h"
#include "onnx/tensor_proto.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

WireWriter entry(std::string_view key, uint64_t value) {
  WireWriter out;
  out.text(1, key);
  out.text(2, fmt::format("{}", value));
  return out;
}

}  // namespace

WireMessage tensor_message(const Tensor& tensor, std::string_view name, ExternalLayout* external,
                           std::span<const std::byte> other_fields) {
  if (!tensor.is_defined()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("tensor '{}' is not defined and cannot be written", name));
  }
  WireMessage out;
  for (int64_t dim : tensor.shape()) out.varint(1, static_cast<uint64_t>(dim));
  out.varint(2, static_cast<uint64_t>(tensor.type()));
  const bool is_string = tensor.type() == DataType::kString;
  const auto place = external != nullptr ? external->place(tensor) : std::nullopt;
  if (is_string) {
    for (const std::string& value : tensor.values<std::string>()) out.text(6, value);
  }
  out.optional_text(8, name);
  if (place) {
    WireWriter location;
    location.text(1, "location");
    location.text(2, external->location());
    out.message(13, location);
    out.message(13, entry("offset", place->offset));
    out.message(13, entry("length", place->length));
    out.varint(14, 1);  // EXTERNAL
  } else if (!is_string && tensor.size() != 0) {
    out.borrow(
        9, {static_cast<const std::byte*>(tensor.raw()), static_cast<size_t>(tensor.size_bytes())});
  }
  out.put(other_fields);
  return out;
}

WireMessage sparse_tensor_message(const SparseTensor& tensor, std::string_view name) {
  WireMessage out;
  out.message(1, tensor_message(tensor.values, name));
  out.message(2, tensor_message(tensor.indices));
  for (int64_t dim : tensor.shape) out.varint(3, static_cast<uint64_t>(dim));
  return out;
}

std::vector<std::byte> tensor_bytes(const Tensor& tensor, std::string_view name) {
  return tensor_message(tensor, name).join();
}

void write_tensor_file(const std::string& path, const Tensor& tensor, std::string_view name) {
  write_file(path, tensor_bytes(tensor, name));
}

}  // namespace sardonyx
