// The kernel of the Reduce operators. A `Fold` folds the elements of one output:
//   template <typename T, typename Each> static T fold(const Each& each, int64_t count)
// where each(f) calls f(x) for every element. Float runs the SIMD rows when one group of axes is
// reduced; everything else takes the fold.
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "ops/reduce/reduce.h"
#include "ops/typed.h"
#include "ops/widen.h"

namespace sardonyx {

// Sums of integers wrap, sums of floats are taken in double.
template <typename T>
using ReduceSumType =
    std::conditional_t<std::is_floating_point_v<T>, double,
                       std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
template <typename T>
using ReduceWrapType = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

namespace reduce_detail {

constexpr int64_t kInnerBlock = 64;

template <typename T, typename Visit>
void each_element(const T* in, const ReduceLayout& layout, size_t group, Visit& visit) {
  if (group == layout.over.size()) return visit(*in);
  const int64_t size = layout.over[group], stride = layout.over_stride[group];
  if (group + 1 == layout.over.size()) {
    for (int64_t i = 0; i < size; ++i) visit(in[i * stride]);
    return;
  }
  for (int64_t i = 0; i < size; ++i) each_element(in + i * stride, layout, group + 1, visit);
}

template <typename T, typename Fold, kernels::ReduceOp kOp>
class ReduceKernel final : public Kernel {
 public:
  ReduceKernel(ReduceParams params, Isa isa) : params_(std::move(params)), isa_(isa) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto layout = std::make_shared<ReduceLayout>(resolve_reduce(params_, context));
    if (uses_simd(*layout)) {
      const int64_t width = std::min(layout->inner, kInnerBlock);
      plan.split(layout->outer * blocks(*layout),
                 0.4 * static_cast<double>(layout->reduced * width));
    } else {
      int64_t count = 1;
      for (int64_t size : layout->over) count *= size;
      plan.split(layout->outputs, 2.0 * static_cast<double>(count));
    }
    plan.state = std::move(layout);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& layout = context.state_as<ReduceLayout>();
    if constexpr (std::is_same_v<T, float>) {
      if (uses_simd(layout)) {
        run_simd(context, layout);
        return Status::ok();
      }
    }
    int64_t count = 1;
    for (int64_t size : layout.over) count *= size;
    const Range part = context.part(layout.outputs);
    T* out = context.out<T>(0);
    for (int64_t i = part.begin; i < part.end; ++i) {
      const T* in = context.in<T>(0);
      for (size_t group = layout.kept.size(), rest = static_cast<size_t>(i); group-- > 0;) {
        in += static_cast<int64_t>(rest) % layout.kept[group] * layout.kept_stride[group];
        rest /= static_cast<size_t>(layout.kept[group]);
      }
      const auto each = [&](auto visit) { each_element(in, layout, 0, visit); };
      out[i] = Fold::template fold<T>(each, count);
    }
    return Status::ok();
  }

 private:
  static bool uses_simd(const ReduceLayout& layout) {
    return std::is_same_v<T, float> && layout.simple;
  }
  static int64_t blocks(const ReduceLayout& layout) {
    return (layout.inner + kInnerBlock - 1) / kInnerBlock;
  }

  void run_simd(const RunContext& context, const ReduceLayout& layout) const {
    const kernels::ReduceFunction reduce = kernels::reduce_kernels(isa_)[kOp];
    const auto* in = context.in<float>(0);
    auto* out = context.out<float>(0);
    const int64_t block_count = blocks(layout);
    const Range part = context.part(layout.outer * block_count);
    if (part.begin == part.end) return;
    if (block_count == 1) {
      const int64_t slice = layout.reduced * layout.inner;
      reduce(kernels::dense_reduce(in + part.begin * slice, part.end - part.begin, layout.reduced,
                                   layout.inner, out + part.begin * layout.inner));
      return;
    }
    for (int64_t unit = part.begin; unit < part.end; ++unit) {
      const int64_t outer = unit / block_count, first = unit % block_count * kInnerBlock;
      kernels::ReduceArgs args =
          kernels::dense_reduce(in + outer * layout.reduced * layout.inner + first, 1,
                                layout.reduced, layout.inner, out + outer * layout.inner + first);
      args.inner = std::min(kInnerBlock, layout.inner - first);
      reduce(args);
    }
  }

  ReduceParams params_;
  Isa isa_;
};

}  // namespace reduce_detail

template <typename Fold, kernels::ReduceOp kOp, bool kSmallTypes = false>
std::unique_ptr<Kernel> prepare_reduce(const PrepareContext& context) {
  using reduce_detail::ReduceKernel;
  ReduceParams params = parse_reduce(context.node);
  const auto make = [&](auto tag) -> std::unique_ptr<Kernel> {
    using T = typename decltype(tag)::Type;
    return std::make_unique<ReduceKernel<T, Fold, kOp>>(std::move(params), context.isa);
  };
  switch (context.input_element(0)) {
    case DataType::kInt32:
      return make(TypeTag<int32_t>{});
    case DataType::kInt64:
      return make(TypeTag<int64_t>{});
    case DataType::kUint32:
      return make(TypeTag<uint32_t>{});
    case DataType::kUint64:
      return make(TypeTag<uint64_t>{});
    case DataType::kDouble:
      return make(TypeTag<double>{});
    default:
      break;
  }
  if constexpr (kSmallTypes) {
    switch (context.input_element(0)) {
      case DataType::kInt8:
        return make(TypeTag<int8_t>{});
      case DataType::kUint8:
        return make(TypeTag<uint8_t>{});
      case DataType::kBool:
        return make(TypeTag<bool>{});
      default:
        break;
    }
  }
  compute_type(context);  // refuses what is not a float
  return widen(context, make(TypeTag<float>{}), DataType::kFloat);
}

}  // namespace sardonyx
