// MaxPool: the largest cell of each window, and where it lies. NaN wins; a window without any cell
// gives the lowest value and index -1.
#include <cmath>
#include <limits>

#include "ops/op.h"
#include "ops/pool/pool.h"
#include "ops/widen.h"

namespace sardonyx {
namespace {

template <typename T>
constexpr T kLowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                           : std::numeric_limits<T>::lowest();

template <typename T>
bool beats(T value, T best) {
  if constexpr (std::is_floating_point_v<T>) {
    return value > best || (std::isnan(value) && !std::isnan(best));
  } else {
    return value > best;
  }
}

// The offset of a cell when the first spatial axis runs fastest.
int64_t column_major(const PoolState& state, int64_t offset) {
  int64_t result = 0;
  for (size_t axis = state.in.size(); axis-- > 0;) {
    result = result * state.in[axis] + offset % state.in[axis];
    offset /= state.in[axis];
  }
  return result;
}

template <typename T>
class MaxPoolKernel final : public Kernel {
 public:
  explicit MaxPoolKernel(PoolParams params) : params_(std::move(params)) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto state = make_pool_state(params_, context);
    split_windows(*state, 1.5, plan);
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& state = context.state_as<PoolState>();
    int64_t* indices = context.has_output(1) ? context.out<int64_t>(1) : nullptr;
    const auto pool = [&](int64_t plane, int64_t position, const PoolPosition& at) {
      const T* in = context.in<T>(0) + plane * state.in_size;
      T best = kLowest<T>;
      int64_t where = -1;
      auto visit = [&](int64_t cell) {
        if (where < 0 || beats(in[cell], best)) {
          best = in[cell];
          where = cell;
        }
      };
      visit_window(state, at, 0, 0, visit);
      context.out<T>(0)[plane * state.out_size + position] = best;
      if (indices == nullptr) return;
      int64_t& index = indices[plane * state.out_size + position];
      if (where < 0) {
        index = -1;
      } else {
        index = plane * state.in_size + (params_.column_major ? column_major(state, where) : where);
      }
    };
    for_each_position(state, context.part(state.planes * state.out_size), pool);
    return Status::ok();
  }

 private:
  PoolParams params_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  PoolParams params = parse_pool(context.node);
  switch (context.input_element(0)) {
    case DataType::kInt8:
      return std::make_unique<MaxPoolKernel<int8_t>>(std::move(params));
    case DataType::kUint8:
      return std::make_unique<MaxPoolKernel<uint8_t>>(std::move(params));
    default:
      return floating_kernel<MaxPoolKernel>(context, std::move(params));
  }
}

#define MAX_POOL_BASE \
  "auto_pad: string = 'NOTSET', kernel_shape: ints!, pads: ints?, strides: ints?"
#define MAX_POOL_8 "X: T -> Y: T, Indices: I? | storage_order: int = 0, " MAX_POOL_BASE
#define MAX_POOL_10 MAX_POOL_8 ", ceil_mode: int = 0, dilations: ints?"
constexpr OpVersion kVersions[] = {
    {1, "X: T -> Y: T | " MAX_POOL_BASE " | T: @ieee"},
    {8, MAX_POOL_8 " | T: @ieee, I: int64"},
    {10, MAX_POOL_10 " | T: @ieee, I: int64"},
    {11, MAX_POOL_10 " | T: @ieee, I: int64"},
    {12, MAX_POOL_10 " | T: @ieee int8 uint8, I: int64"},
    {22, MAX_POOL_10 " | T: @float int8 uint8, I: int64"},
};
#undef MAX_POOL_10
#undef MAX_POOL_8
#undef MAX_POOL_BASE

}  // namespace

extern const OpDef kMaxPool = {.domain = "",
                               .name = "MaxPool",
                               .versions = kVersions,
                               .infer = infer_pool,
                               .prepare = prepare};

}  // namespace sardonyx
