// TensorProto: every storage form of the 26 element types to a Tensor, and back to bytes. Raw and
// external data become views that share the owner of the bytes when their address is aligned for
// the element type, copies otherwise. Called by the graph reader and, for data files (input_0.pb),
// by the command line and the conformance tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/attribute.h"
#include "onnx/external_data.h"
#include "onnx/wire.h"
#include "tensor/tensor.h"

namespace sardonyx {

struct NamedTensor {
  std::string name;
  Tensor tensor;
  std::vector<std::byte> other_fields;  // documentation, metadata, unknown ones; as they lie there
};

struct NamedSparseTensor {
  std::string name;  // of the values
  SparseTensor tensor;
};

// What a tensor's bytes may come from.
struct TensorSource {
  std::shared_ptr<const void> owner;  // of the bytes under the cursor; null: always copy
  ExternalData* external = nullptr;   // null: external data is refused
};

// Throws Error(kInvalidProtobuf) for damaged bytes and Error(kInvalidGraph) for a tensor whose
// fields contradict each other; the message starts with the tensor's name.
NamedTensor read_tensor(WireCursor cursor, const TensorSource& source);
NamedSparseTensor read_sparse_tensor(WireCursor cursor, const TensorSource& source);

// A file that holds one TensorProto (inputs and outputs of test data sets). External data is found
// beside it.
NamedTensor read_tensor_file(const std::string& path);

std::vector<std::byte> tensor_bytes(const Tensor& tensor, std::string_view name = {});
void write_tensor_file(const std::string& path, const Tensor& tensor, std::string_view name = {});

}  // namespace sardonyx
