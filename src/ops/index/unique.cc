// Unique: the different elements of the flattened input, or the different slices of an axis. NaN
// comes last and equals NaN.
#include <algorithm>
#include <complex>
#include <numeric>

#include "ops/index/lanes.h"
#include "ops/op.h"
#include "ops/shape/strided_copy.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {11,
     "X: T -> Y: T, indices: int64?, inverse_indices: int64?, counts: int64? | axis: int?, sorted: "
     "int = 1 | T: @all1"},
    {28,
     "X: T -> Y: T, indices: int64?, inverse_indices: int64?, counts: int64? | axis: int?, sorted: "
     "int = 1 | T: @all13"},
};

void infer(InferContext& context) {
  SymShape shape = context.input_shape(0);
  if (!context.node().attributes.contains("axis")) {
    shape = Dims{Dim::unknown()};
  } else if (shape) {
    const int64_t axis = context.node().attributes.get_int("axis", 0);
    (*shape)[static_cast<size_t>(context.normalize_axis(axis, shape->size()))] = Dim::unknown();
  }
  context.set_output(0, context.input_element(0), std::move(shape));
  for (size_t i = 1; i < 4; ++i) {
    context.set_output(i, DataType::kInt64, Dims{Dim::unknown()});
  }
}

// -1, 0, 1.
template <typename T>
int compare(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || b != b) return (a != a) - (b != b);
  }
  return a < b ? -1 : b < a ? 1 : 0;
}
template <typename T>
int compare(const std::complex<T>& a, const std::complex<T>& b) {
  const int real = compare(a.real(), b.real());
  return real != 0 ? real : compare(a.imag(), b.imag());
}

// Slices a and b of the axis.
template <typename T>
int compare_slices(const T* data, const Lanes& lanes, int64_t a, int64_t b) {
  for (int64_t row = 0; row < lanes.outer; ++row) {
    const T* x = data + (row * lanes.size + a) * lanes.inner;
    const T* y = data + (row * lanes.size + b) * lanes.inner;
    for (int64_t k = 0; k < lanes.inner; ++k) {
      const int result = compare(to_compute(x[k]), to_compute(y[k]));
      if (result != 0) return result;
    }
  }
  return 0;
}

// Scratch of `run`: four lists of as many numbers as there are slices.
struct Groups {
  int64_t* order;   // slices, sorted; equal ones by index
  int64_t* begins;  // of each group in `order`
  int64_t* ranks;   // groups in the order of the output
  int64_t* places;  // where a group stands in the output
  int64_t count = 0;
};

template <typename T>
void find_groups(const T* data, const Lanes& lanes, Groups& groups) {
  std::iota(groups.order, groups.order + lanes.size, int64_t{0});
  std::sort(groups.order, groups.order + lanes.size, [&](int64_t a, int64_t b) {
    const int result = compare_slices(data, lanes, a, b);
    return result != 0 ? result < 0 : a < b;
  });
  for (int64_t i = 0; i < lanes.size; ++i) {
    if (i == 0 || compare_slices(data, lanes, groups.order[i - 1], groups.order[i]) != 0) {
      groups.begins[groups.count++] = i;
    }
  }
}

class UniqueKernel final : public Kernel {
 public:
  explicit UniqueKernel(const Node& node) : sorted_(node.attributes.get_int("sorted", 1) != 0) {
    if (node.attributes.contains("axis")) axis_ = node.attributes.get_int("axis", 0);
  }

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto lanes = std::make_shared<Lanes>();
    const Shape& shape = context.input_shape(0);
    *lanes = axis_ ? lanes_of(shape, *axis_) : Lanes{1, element_count(shape), 1};
    if (element_count(shape) == 0) lanes->outer = 0;  // all slices are equal, and copied for free
    plan.scratch_bytes = 4 * lanes->size * static_cast<int64_t>(sizeof(int64_t));
    plan.state = std::move(lanes);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& lanes = context.state_as<Lanes>();
    const TensorView& in = context.input(0);
    auto* memory = reinterpret_cast<int64_t*>(context.scratch);
    Groups groups{memory, memory + lanes.size, memory + 2 * lanes.size, memory + 3 * lanes.size};
    if (in.type == DataType::kString) {
      find_groups(in.as<std::string>(), lanes, groups);
    } else if (in.type == DataType::kBool) {
      find_groups(in.as<uint8_t>(), lanes, groups);
    } else if (in.type == DataType::kComplex64) {
      find_groups(in.as<std::complex<float>>(), lanes, groups);
    } else if (in.type == DataType::kComplex128) {
      find_groups(in.as<std::complex<double>>(), lanes, groups);
    } else {
      visit_numbers(in.type,
                    [&]<typename T>(TypeTag<T>) { find_groups(in.as<T>(), lanes, groups); });
    }
    std::iota(groups.ranks, groups.ranks + groups.count, int64_t{0});
    if (!sorted_) {
      std::sort(groups.ranks, groups.ranks + groups.count, [&](int64_t a, int64_t b) {
        return groups.order[groups.begins[a]] < groups.order[groups.begins[b]];
      });
    }
    for (int64_t i = 0; i < groups.count; ++i) groups.places[groups.ranks[i]] = i;
    return write(context, lanes, groups);
  }

 private:
  Status write(const RunContext& context, const Lanes& lanes, const Groups& groups) const {
    const TensorView& in = context.input(0);
    if (context.has_output(0)) {
      Shape shape{groups.count};
      if (axis_) {
        shape = in.shape;
        const auto rank = static_cast<int64_t>(shape.size());
        shape[static_cast<size_t>(*axis_ < 0 ? *axis_ + rank : *axis_)] = groups.count;
      }
      SDX_RETURN_IF_FAILED(context.allocate_output(0, shape));
      for (int64_t row = 0; row < lanes.outer; ++row) {
        for (int64_t i = 0; i < groups.count; ++i) {
          const int64_t slice = groups.order[groups.begins[groups.ranks[i]]];
          copy_elements(in.type, in.data, (row * lanes.size + slice) * lanes.inner,
                        context.output(0).data, (row * groups.count + i) * lanes.inner,
                        lanes.inner);
        }
      }
    }
    for (const size_t i : {size_t{1}, size_t{2}, size_t{3}}) {
      if (!context.has_output(i)) continue;
      SDX_RETURN_IF_FAILED(context.allocate_output(i, Shape{i == 2 ? lanes.size : groups.count}));
    }
    for (int64_t group = 0; group < groups.count; ++group) {
      const int64_t begin = groups.begins[group];
      const int64_t end = group + 1 < groups.count ? groups.begins[group + 1] : lanes.size;
      const int64_t place = groups.places[group];
      if (context.has_output(1)) context.out<int64_t>(1)[place] = groups.order[begin];
      if (context.has_output(3)) context.out<int64_t>(3)[place] = end - begin;
      if (!context.has_output(2)) continue;
      for (int64_t i = begin; i < end; ++i) context.out<int64_t>(2)[groups.order[i]] = place;
    }
    return Status::ok();
  }

  bool sorted_;
  std::optional<int64_t> axis_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<UniqueKernel>(context.node);
}

}  // namespace

extern const OpDef kUnique = {
    .domain = "",
    .name = "Unique",
    .versions = kVersions,
    .traits = kDataDependentShape,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
