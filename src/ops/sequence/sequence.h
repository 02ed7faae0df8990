// What the operators on sequences share.
#pragma once

#include <optional>

#include "ops/control/subgraph.h"
#include "ops/kernel.h"

namespace sardonyx {

// The elements of a sequence or optional.
inline std::span<const Tensor> items_of(const TensorView& view) {
  return {view.as<const Tensor>(), static_cast<size_t>(view.size())};
}

// The type of a sequence's or optional's elements; unknown when `type` does not say.
inline ValueType item_type(const ValueType& type) {
  return type.holds_values() && type.inner ? *type.inner : ValueType();
}

// Throws, as PrepareContext::unsupported does, unless input 0 is stated to be a sequence: kernels
// take its elements for Tensor objects.
void require_sequence(const PrepareContext& context);

// Reads a position: one int32 or int64 in [-count, count - 1], or in [-count, count] when it may be
// the end. Negative ones count from the back.
Status read_position(const TensorView& view, int64_t count, bool may_be_end, int64_t& position);

// Does an element of type `type` fit behind `items`?
Status check_same_type(DataType type, std::span<const Tensor> items);

}  // namespace sardonyx
