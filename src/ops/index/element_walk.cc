#include "ops/index/element_walk.h"

#include "ops/shape/strided_copy.h"

namespace sardonyx {

ElementWalk plan_element_walk(const Shape& data, const Shape& indices, int64_t axis) {
  const auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(data.size()) : axis);
  ElementWalk walk;
  walk.dims = indices;
  walk.strides = row_major_strides(data);
  walk.count = element_count(indices);
  walk.axis_size = data[at];
  walk.axis_stride = walk.strides[at];
  walk.strides[at] = 0;
  return walk;
}

void check_element_indices(const InferContext& context) {
  const SymShape& data = context.input_shape(0);
  const SymShape& indices = context.input_shape(1);
  if (!data) return;
  if (data->empty()) context.fail("the data must have at least one axis");
  const auto axis = static_cast<size_t>(
      context.normalize_axis(context.node().attributes.get_int("axis", 0), data->size()));
  if (!indices) return;
  if (indices->size() != data->size()) {
    context.fail(
        fmt::format("the indices have rank {}, the data {}", indices->size(), data->size()));
  }
  for (size_t i = 0; i < data->size(); ++i) {
    const Dim &own = (*indices)[i], &of = (*data)[i];
    if (i != axis && own.is_known() && of.is_known() && own.value > of.value) {
      context.fail(
          fmt::format("the indices have size {} on axis {}, the data {}", own.value, i, of.value));
    }
  }
}

}  // namespace sardonyx
