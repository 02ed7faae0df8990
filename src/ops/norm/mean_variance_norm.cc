// MeanVarianceNormalization: (x - mean) / (standard deviation + 1e-9) over the given axes, with
// statistics in two passes.
#include <cmath>
#include <vector>

#include "ops/op.h"
#include "ops/shape/axes.h"
#include "ops/shape/strided_copy.h"
#include "ops/widen.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {9, "X: T -> Y: T | axes: ints = [0, 2, 3] | T: @ieee"},
    {13, "X: T -> Y: T | axes: ints = [0, 2, 3] | T: @float"},
};

std::vector<int64_t> axes_of(const Node& node) {
  return node.attributes.get_ints("axes", {0, 2, 3});
}

void infer(InferContext& context) {
  if (const SymShape& x = context.input_shape(0)) {
    const std::vector<int64_t> axes = axes_of(context.node());
    normalize_axes(context, Axes(axes.begin(), axes.end()), x->size());
  }
  context.same_as_input(0);
}

// A group, what is normalised together, is made of runs of neighbours.
struct Groups {
  std::vector<int64_t> groups;  // offset of each group
  std::vector<int64_t> runs;    // offset of each run in its group
  int64_t run = 1;              // elements
};

// Adds an inner axis to a list of offsets in row-major order.
void append_axis(std::vector<int64_t>& offsets, int64_t size, int64_t stride) {
  std::vector<int64_t> all;
  all.reserve(offsets.size() * static_cast<size_t>(size));
  for (const int64_t offset : offsets) {
    for (int64_t i = 0; i < size; ++i) all.push_back(offset + i * stride);
  }
  offsets = std::move(all);
}

template <typename T>
class MeanVarianceKernel final : public Kernel {
 public:
  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& shape = context.input_shape(0);
    const SmallVector<int64_t, 6> strides = row_major_strides(shape);
    std::vector<bool> together(shape.size(), false);
    for (const int64_t axis : axes_of(context.node())) {
      const auto rank = static_cast<int64_t>(shape.size());
      together[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
    }
    auto groups = std::make_shared<Groups>();
    if (element_count(shape) == 0) {
      plan.state = std::move(groups);
      return Status::ok();
    }
    groups->groups = groups->runs = {0};
    size_t tail = shape.size();
    while (tail > 0 && together[tail - 1]) groups->run *= shape[--tail];
    for (size_t axis = 0; axis < tail; ++axis) {
      append_axis(together[axis] ? groups->runs : groups->groups, shape[axis], strides[axis]);
    }
    const auto elements =
        static_cast<double>(groups->run) * static_cast<double>(groups->runs.size());
    plan.split(static_cast<int64_t>(groups->groups.size()), 3.0 * elements);
    plan.state = std::move(groups);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& plan = context.state_as<Groups>();
    const Range part = context.part(static_cast<int64_t>(plan.groups.size()));
    const auto count = static_cast<T>(plan.run) * static_cast<T>(plan.runs.size());
    for (int64_t group = part.begin; group < part.end; ++group) {
      const int64_t start = plan.groups[static_cast<size_t>(group)];
      const T* x = context.in<T>(0) + start;
      T* y = context.out<T>(0) + start;
      const auto total = [&](auto&& term) {
        T sum = 0;
        for (const int64_t offset : plan.runs) {
          T part_sum = 0;
          for (int64_t i = 0; i < plan.run; ++i) part_sum += term(x[offset + i]);
          sum += part_sum;
        }
        return sum;
      };
      const T mean = total([](T value) { return value; }) / count;
      const T variance = total([mean](T value) { return (value - mean) * (value - mean); }) / count;
      const T scale = T(1) / (std::sqrt(variance) + T(1e-9));
      for (const int64_t offset : plan.runs) {
        for (int64_t i = 0; i < plan.run; ++i) y[offset + i] = (x[offset + i] - mean) * scale;
      }
    }
    return Status::ok();
  }
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return floating_kernel<MeanVarianceKernel>(context);
}

}  // namespace

extern const OpDef kMeanVarianceNormalization = {
    .domain = "",
    .name = "MeanVarianceNormalization",
    .versions = kVersions,
    .in_place = 0b1,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
