// TopK. Of equal elements the one with the lower index comes first; NaN counts as the largest. The
// result is always sorted.
#include <algorithm>
#include <numeric>

#include "ops/index/lanes.h"
#include "ops/op.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "X: T -> Values: T, Indices: I | axis: int = -1, k: int! | T: @ieee, I: int64"},
    {10, "X: T, K: int64 -> Values: T, Indices: I | axis: int = -1 | T: @ieee, I: int64"},
    {11,
     "X: T, K: int64 -> Values: T, Indices: I | axis: int = -1, largest: int = 1, sorted: int = 1 "
     "| T: @numeric, I: int64"},
    {24,
     "X: T, K: int64 -> Values: T, Indices: I | axis: int = -1, largest: int = 1, sorted: int = 1 "
     "| T: @numeric13, I: int64"},
};

void infer(InferContext& context) {
  const Node& node = context.node();
  Dim k = Dim::unknown();
  if (node.version < 10) {
    k = Dim(node.attributes.get_int("k", 0));
  } else if (const std::optional<Dims> ints = context.input_ints(1)) {
    if (ints->size() != 1) context.fail("K must be one number");
    k = (*ints)[0];
  }
  SymShape shape = context.input_shape(0);
  if (shape) {
    const auto axis = static_cast<size_t>(
        context.normalize_axis(node.attributes.get_int("axis", -1), shape->size()));
    Dim& size = (*shape)[axis];
    if (k.is_known() && (k.value < 0 || (size.is_known() && k.value > size.value))) {
      context.fail(fmt::format("K is {}, axis {} has size {}", k.value, axis, size.value));
    }
    size = k;
  }
  context.set_output(1, DataType::kInt64, shape);
  context.set_output(0, context.input_element(0), std::move(shape));
}

struct TopKPlan {
  Lanes in;
  int64_t k = 0;
};

template <typename T>
bool is_larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a) return b == b;
  }
  return a > b;
}

template <typename T>
void top_k(const RunContext& context, const TopKPlan& plan, bool largest) {
  auto* order = reinterpret_cast<int64_t*>(context.chunk_scratch);
  const Lanes& lanes = plan.in;
  const Range part = context.part(lanes.count());
  for (int64_t lane = part.begin; lane < part.end; ++lane) {
    const T* in = context.in<T>(0) + lanes.start(lane);
    std::iota(order, order + lanes.size, int64_t{0});
    const auto before = [&](int64_t a, int64_t b) {
      const auto x = to_compute(in[a * lanes.inner]);
      const auto y = to_compute(in[b * lanes.inner]);
      if (is_larger(x, y)) return largest;
      if (is_larger(y, x)) return !largest;
      return a < b;
    };
    std::partial_sort(order, order + plan.k, order + lanes.size, before);
    const int64_t start = lane / lanes.inner * plan.k * lanes.inner + lane % lanes.inner;
    for (int64_t i = 0; i < plan.k; ++i) {
      const int64_t at = start + i * lanes.inner;
      if (context.has_output(0)) context.out<T>(0)[at] = in[order[i] * lanes.inner];
      if (context.has_output(1)) context.out<int64_t>(1)[at] = order[i];
    }
  }
}

class TopKKernel final : public Kernel {
 public:
  explicit TopKKernel(const Node& node)
      : axis_(node.attributes.get_int("axis", -1)),
        largest_(node.attributes.get_int("largest", 1) != 0) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto state = std::make_shared<TopKPlan>();
    state->in = lanes_of(context.input_shape(0), axis_);
    const size_t some = context.has_output(0) ? 0 : 1;
    state->k = lanes_of(context.output_shape(some), axis_).size;
    plan.split(state->in.count(), 10.0 * static_cast<double>(state->in.size));
    plan.scratch_bytes_per_chunk = state->in.size * static_cast<int64_t>(sizeof(int64_t));
    plan.state = std::move(state);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const auto& plan = context.state_as<TopKPlan>();
    visit_numbers(context.input(0).type,
                  [&]<typename T>(TypeTag<T>) { top_k<T>(context, plan, largest_); });
    return Status::ok();
  }

 private:
  int64_t axis_;
  bool largest_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<TopKKernel>(context.node);
}

}  // namespace

extern const OpDef kTopK = {
    .domain = "",
    .name = "TopK",
    .versions = kVersions,
    .value_inputs = 0b10,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
