// SequenceProto and OptionalProto, as they lie in the files of ONNX test data. Called by the
// command line. Maps and sparse tensors are refused.
#pragma once

#include <string>

#include "onnx/tensor_proto.h"

namespace sardonyx {

// `type`: kSequenceType or kOptionalType, which the bytes do not say. The result shares the bytes
// of `source`. Throws Error(kInvalidProtobuf) for damaged bytes, Error(kInvalidGraph) for fields
// that contradict each other, and Error(kNotImplemented) for what a value of ours cannot hold.
Tensor read_values(WireCursor cursor, DataType type, const TensorSource& source);

// A file that holds one such message; the result has memory of its own.
Tensor read_values_file(const std::string& path, DataType type);

}  // namespace sardonyx
