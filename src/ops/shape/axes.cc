#include "ops/shape/axes.h"

#include <fmt/format.h>

#include <algorithm>

namespace sardonyx {

AxesArgument axes_argument(const InferContext& context, std::string_view name, size_t input) {
  AxesArgument argument;
  if (context.has_input(input)) {
    argument.given = true;
    if (const auto values = context.input_known_ints(input)) {
      argument.values = *values;
      return argument;
    }
    argument.known = false;
    if (const auto ints = context.input_ints(input)) argument.count = ints->size();
    return argument;
  }
  if (context.node().attributes.contains(name)) {
    argument.given = true;
    const std::vector<int64_t> values = context.node().attributes.get_ints(name);
    argument.values.assign(values.begin(), values.end());
  }
  return argument;
}

Axes normalize_axes(const InferContext& context, const Axes& axes, size_t rank) {
  Axes result;
  for (int64_t axis : axes) {
    const int64_t normal = context.normalize_axis(axis, rank);
    if (std::find(result.begin(), result.end(), normal) != result.end()) {
      context.fail(fmt::format("axis {} is given twice", axis));
    }
    result.push_back(normal);
  }
  std::sort(result.begin(), result.end());
  return result;
}

void pass_ints(InferContext& context) {
  if (auto ints = context.input_ints(0)) context.set_output_ints(0, std::move(*ints));
}

}  // namespace sardonyx
