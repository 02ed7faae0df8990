// Normalisation of groups of whole planes (InstanceNormalization: groups of one channel,
// GroupNormalization): each group of a sample to mean 0 and variance 1, then scaled and shifted by
// channel or by group. Two passes; float runs the row kernel.
#pragma once

#include <cmath>

#include "kernels/norm/norm.h"
#include "ops/kernel.h"

namespace sardonyx {

struct GroupRowsParams {
  int64_t groups = 0;  // 0: one for each channel
  float epsilon = 1e-5f;
};

struct GroupRowsState {
  int64_t rows = 1;      // batch * groups
  int64_t groups = 1;    // of a sample
  int64_t channels = 1;  // of a group
  int64_t cells = 1;     // of a channel
  bool affine_by_group = false;
};

// Inputs x [N, C, ...], scale and bias, both [C] or [groups].
template <typename T>
class GroupRowsKernel final : public Kernel {
 public:
  GroupRowsKernel(GroupRowsParams params, Isa isa)
      : params_(params), kernels_(kernels::norm_kernels(isa)) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& x = context.input_shape(0);
    auto s = std::make_shared<GroupRowsState>();
    s->groups = params_.groups == 0 ? x[1] : params_.groups;
    s->channels = s->groups == 0 ? 0 : x[1] / s->groups;
    s->cells = element_count(x, 2, x.size());
    s->rows = x[0] * s->groups;
    s->affine_by_group = element_count(context.input_shape(1)) != x[1];
    plan.split(s->rows, 1.0 * static_cast<double>(s->channels * s->cells));
    plan.state = std::move(s);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& s = context.state_as<GroupRowsState>();
    const int64_t n = s.channels * s.cells;
    const Range rows = context.part(s.rows);
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      T* y = context.out<T>(0) + row * n;
      normalize(context.in<T>(0) + row * n, n, y);
      const int64_t group = row % s.groups;
      for (int64_t c = 0; c < s.channels; ++c, y += s.cells) {
        const int64_t at = s.affine_by_group ? group : group * s.channels + c;
        const T scale = context.in<T>(1)[at], bias = context.in<T>(2)[at];
        for (int64_t i = 0; i < s.cells; ++i) y[i] = y[i] * scale + bias;
      }
    }
    return Status::ok();
  }

 private:
  void normalize(const T* x, int64_t n, T* y) const {
    if constexpr (std::is_same_v<T, float>) {
      kernels::NormArgs args;
      args.rows = 1;
      args.columns = args.in_stride = args.out_stride = n;
      args.in = x;
      args.epsilon = params_.epsilon;
      args.out = y;
      kernels_.layer_norm(args);
      return;
    }
    T sum = 0, squares = 0;
    for (int64_t i = 0; i < n; ++i) sum += x[i];
    const T mean = sum / static_cast<T>(n);
    for (int64_t i = 0; i < n; ++i) squares += (x[i] - mean) * (x[i] - mean);
    const T inv = T(1) / std::sqrt(squares / static_cast<T>(n) + static_cast<T>(params_.epsilon));
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * inv;
  }

  GroupRowsParams params_;
  const kernels::NormKernels& kernels_;
};

}  // namespace sardonyx
