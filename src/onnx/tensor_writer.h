// Tensors as messages that borrow the tensors' bytes. Used by the ONNX writer; others use
// tensor_bytes() of tensor_proto.h.
#pragma once

#include <span>
#include <string_view>

#include "ir/attribute.h"
#include "onnx/external_layout.h"
#include "onnx/wire_message.h"

namespace sardonyx {

// `external` may take the bytes; null: they stay in the message. other_fields: further ones, as
// they are to lie there.
WireMessage tensor_message(const Tensor& tensor, std::string_view name = {},
                           ExternalLayout* external = nullptr,
                           std::span<const std::byte> other_fields = {});
WireMessage sparse_tensor_message(const SparseTensor& tensor, std::string_view name = {});

}  // namespace sardonyx
