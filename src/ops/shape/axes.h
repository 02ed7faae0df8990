// Lists of axes as attributes or (in later versions) inputs.
#pragma once

#include <optional>

#include "ops/infer.h"

namespace sardonyx {

using Axes = SmallVector<int64_t, 8>;

// The list in attribute `name`, or in input `input` when the node has it. `known` is false when it
// is an input whose values are not known.
struct AxesArgument {
  bool given = false;
  bool known = true;
  Axes values;
  std::optional<size_t> count;  // when not known: how many, if that is known
};
AxesArgument axes_argument(const InferContext& context, std::string_view name, size_t input);

// Counted from the front, sorted; fails on an axis outside `rank` or given twice.
Axes normalize_axes(const InferContext& context, const Axes& axes, size_t rank);

// Passes tracked integers through operators that keep the order of elements.
void pass_ints(InferContext& context);

}  // namespace sardonyx
