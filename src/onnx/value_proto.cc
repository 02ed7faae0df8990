#include "onnx/value_proto.h"

#include <fmt/format.h>

#include "base/mapped_file.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

// SequenceProto.DataType and OptionalProto.DataType.
constexpr int32_t kUndefinedElement = 0;
constexpr int32_t kTensorElement = 1;
constexpr int32_t kSequenceElement = 3;

Tensor read_sequence(WireCursor cursor, const TensorSource& source) {
  std::vector<Tensor> items;
  int32_t element = kUndefinedElement;
  while (cursor.next()) {
    if (cursor.field() == 2) element = cursor.int32();
    if (cursor.field() == 3) {
      items.push_back(read_tensor(cursor.message("TensorProto"), source).tensor);
      if (items.back().type() != items[0].type()) {
        throw Error(ErrorCode::kInvalidGraph,
                    fmt::format("tensor {} of the sequence is {}, tensor 0 {}", items.size() - 1,
                                name_of(items.back().type()), name_of(items[0].type())));
      }
    }
  }
  if (element != kTensorElement && (element != kUndefinedElement || !items.empty())) {
    throw Error(ErrorCode::kNotImplemented,
                fmt::format("a sequence with elements of kind {}; tensors (kind {}) are supported",
                            element, kTensorElement));
  }
  return tensor_of_values(kSequenceType, items);
}

Tensor read_optional(WireCursor cursor, const TensorSource& source) {
  std::vector<Tensor> held;
  int32_t element = kUndefinedElement;
  int32_t found = kUndefinedElement;
  while (cursor.next()) {
    if (cursor.field() == 2) element = cursor.int32();
    if (cursor.field() == 3) {
      held.assign(1, read_tensor(cursor.message("TensorProto"), source).tensor);
      found = kTensorElement;
    }
    if (cursor.field() == 5) {
      held.assign(1, read_sequence(cursor.message("SequenceProto"), source));
      found = kSequenceElement;
    }
  }
  if (element != kUndefinedElement && element != kTensorElement && element != kSequenceElement) {
    throw Error(ErrorCode::kNotImplemented,
                fmt::format("an optional of kind {}; tensors (kind {}) and sequences (kind {}) are "
                            "supported",
                            element, kTensorElement, kSequenceElement));
  }
  if (!held.empty() && element != found) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("an optional of kind {} that holds kind {}", element, found));
  }
  return tensor_of_values(kOptionalType, held);
}

}  // namespace

Tensor read_values(WireCursor cursor, DataType type, const TensorSource& source) {
  return type == kSequenceType ? read_sequence(cursor, source) : read_optional(cursor, source);
}

Tensor read_values_file(const std::string& path, DataType type) {
  const auto file = MappedFile::open(path);
  const char* message = type == kSequenceType ? "SequenceProto" : "OptionalProto";
  try {
    ExternalData external = ExternalData::beside_model(path);
    return read_values(WireCursor(file->bytes(), message), type, {file, &external}).clone();
  } catch (const Error& error) {
    throw error.with_context(path);
  }
}

}  // namespace sardonyx
