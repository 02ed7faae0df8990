#include "ops/reduce/reduce.h"

#include <algorithm>
#include <utility>

namespace sardonyx {

using kernels::ReduceOp;

ReduceParams parse_reduce(const Node& node) {
  ReduceParams params;
  if (node.attributes.contains("axes")) params.axes = node.attributes.get_ints("axes");
  params.keep_dims = node.attributes.get_int("keepdims", 1) != 0;
  params.noop_with_empty_axes = node.attributes.get_int("noop_with_empty_axes", 0) != 0;
  return params;
}

SmallVector<bool, 8> reduced_dimensions(const ReduceParams& params,
                                        std::optional<std::span<const int64_t>> axes, size_t rank) {
  if (!axes || axes->empty()) return SmallVector<bool, 8>(rank, !params.noop_with_empty_axes);
  SmallVector<bool, 8> reduced(rank, false);
  for (int64_t axis : *axes) {
    if (axis < 0) axis += static_cast<int64_t>(rank);
    if (axis >= 0 && axis < static_cast<int64_t>(rank)) reduced[static_cast<size_t>(axis)] = true;
  }
  return reduced;
}

namespace {

// Reductions of tracked integers, as shape arithmetic uses them.
void fold_ints(InferContext& context, ReduceOp op, size_t output_rank) {
  if (op != ReduceOp::kProd && op != ReduceOp::kSum && op != ReduceOp::kMax &&
      op != ReduceOp::kMin) {
    return;
  }
  const std::optional<Dims> elements = context.input_ints(0);
  if (!elements || output_rank > 1) return;
  if (elements->empty() && (op == ReduceOp::kMax || op == ReduceOp::kMin)) return;
  DimTable& dims = context.dims();
  Dim result = elements->empty() ? Dim(op == ReduceOp::kProd ? 1 : 0) : (*elements)[0];
  for (size_t i = 1; i < elements->size(); ++i) {
    const Dim next = (*elements)[i];
    if (op == ReduceOp::kProd) result = dims.mul(result, next);
    if (op == ReduceOp::kSum) result = dims.add(result, next);
    if (op == ReduceOp::kMax) result = dims.max(result, next);
    if (op == ReduceOp::kMin) result = dims.min(result, next);
  }
  context.set_output_ints(0, {result});
}

}  // namespace

void infer_reduce(InferContext& context, ReduceOp op) {
  const ReduceParams params = parse_reduce(context.node());
  const DataType element = context.input_element(0);
  const SymShape& shape = context.input_shape(0);
  if (!shape) return context.set_output(0, element, std::nullopt);
  const size_t rank = shape->size();
  std::optional<SmallVector<int64_t, 8>> axes;
  if (params.axes) axes.emplace(params.axes->begin(), params.axes->end());
  if (context.has_input(1)) {
    axes = context.input_known_ints(1);
    if (!axes) {
      // The axes are known at run time only; their number may be known.
      const std::optional<Dims> some = context.input_ints(1);
      if (params.keep_dims) {
        return context.set_output(0, element, Dims(rank, Dim::unknown()));
      }
      if (!some || some->empty() || some->size() > rank) {
        return context.set_output(0, element, std::nullopt);
      }
      return context.set_output(0, element, Dims(rank - some->size(), Dim::unknown()));
    }
  }
  if (axes) {
    for (int64_t axis : *axes) context.normalize_axis(axis, rank);
  }
  const SmallVector<bool, 8> reduced = reduced_dimensions(
      params, axes ? std::optional<std::span<const int64_t>>(*axes) : std::nullopt, rank);
  Dims out;
  for (size_t i = 0; i < rank; ++i) {
    if (!reduced[i]) {
      out.push_back((*shape)[i]);
    } else if (params.keep_dims) {
      out.push_back(1);
    }
  }
  if (rank == 1 && reduced[0] && is_integer(element)) fold_ints(context, op, out.size());
  context.set_output(0, element, std::move(out));
}

ReduceLayout make_reduce_layout(const Shape& shape, const SmallVector<bool, 8>& reduced) {
  struct Group {
    int64_t size;
    bool reduced;
  };
  SmallVector<Group, 8> groups;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (!groups.empty() && groups.back().reduced == reduced[i]) {
      groups.back().size *= shape[i];
    } else {
      groups.push_back({shape[i], reduced[i]});
    }
  }
  ReduceLayout layout;
  int64_t stride = 1;
  for (size_t i = groups.size(); i-- > 0;) {
    auto& sizes = groups[i].reduced ? layout.over : layout.kept;
    auto& strides = groups[i].reduced ? layout.over_stride : layout.kept_stride;
    sizes.insert(sizes.begin(), groups[i].size);
    strides.insert(strides.begin(), stride);
    stride *= groups[i].size;
  }
  for (int64_t size : layout.kept) layout.outputs *= size;
  layout.simple = layout.over.size() <= 1;
  if (!layout.simple) return layout;
  bool after = false;
  for (const Group& group : groups) {
    if (group.reduced) {
      layout.reduced = group.size;
      after = true;
    } else {
      (after ? layout.inner : layout.outer) *= group.size;
    }
  }
  if (layout.over.empty()) std::swap(layout.outer, layout.inner);  // element by element
  return layout;
}

ReduceLayout resolve_reduce(const ReduceParams& params, const ResolveContext& context) {
  SmallVector<int64_t, 8> axes;
  if (params.axes) axes.assign(params.axes->begin(), params.axes->end());
  if (context.has_input(1)) {
    const TensorView& values = context.input_values(1);
    const auto* data = values.as<int64_t>();
    axes.assign(data, data + values.size());
  }
  const Shape& shape = context.input_shape(0);
  return make_reduce_layout(
      shape, reduced_dimensions(params, std::span<const int64_t>(axes), shape.size()));
}

}  // namespace sardonyx
