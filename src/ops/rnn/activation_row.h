// The activations of recurrent operators, applied in place to a row: vector kernels for float,
// plain loops for double. Used by the cells.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/elementwise/elementwise.h"
#include "ops/rnn/recurrent.h"

namespace sardonyx {

template <typename T>
class ActivationRows;

template <>
class ActivationRows<float> {
 public:
  ActivationRows(const RecurrentParams& params, Isa isa)
      : clip_(kernels::unary_kernels(isa)[kernels::UnaryOp::kClip]), bound_(params.clip) {
    const kernels::UnaryKernels& unary = kernels::unary_kernels(isa);
    for (const ActivationSpec& spec : params.activations) {
      rows_.push_back({spec, params.has_clip(), unary[op_of(spec.kind)]});
    }
  }

  // Activation i, counted through all directions, of x clipped.
  void apply(size_t i, float* x, int64_t n) const {
    const Row& row = rows_[i];
    const float alpha = row.spec.alpha, beta = row.spec.beta;
    if (row.clipped) clip_(x, x, n, -bound_, bound_);
    switch (row.spec.kind) {
      case RecurrentActivation::kAffine:
        for (int64_t j = 0; j < n; ++j) x[j] = alpha * x[j] + beta;
        return;
      case RecurrentActivation::kThresholdedRelu:
        for (int64_t j = 0; j < n; ++j) x[j] = x[j] < alpha ? 0.0f : x[j];
        return;
      case RecurrentActivation::kScaledTanh:
        for (int64_t j = 0; j < n; ++j) x[j] *= beta;
        row.function(x, x, n, 0.0f, 0.0f);
        for (int64_t j = 0; j < n; ++j) x[j] *= alpha;
        return;
      default:
        row.function(x, x, n, alpha, beta);
    }
  }

 private:
  static kernels::UnaryOp op_of(RecurrentActivation kind) {
    switch (kind) {
      case RecurrentActivation::kRelu:
        return kernels::UnaryOp::kRelu;
      case RecurrentActivation::kSigmoid:
        return kernels::UnaryOp::kSigmoid;
      case RecurrentActivation::kLeakyRelu:
        return kernels::UnaryOp::kLeakyRelu;
      case RecurrentActivation::kHardSigmoid:
        return kernels::UnaryOp::kHardSigmoid;
      case RecurrentActivation::kElu:
        return kernels::UnaryOp::kElu;
      case RecurrentActivation::kSoftsign:
        return kernels::UnaryOp::kSoftsign;
      case RecurrentActivation::kSoftplus:
        return kernels::UnaryOp::kSoftplus;
      default:
        return kernels::UnaryOp::kTanh;
    }
  }

  struct Row {
    ActivationSpec spec;
    bool clipped;
    kernels::UnaryFunction function;
  };
  std::vector<Row> rows_;
  kernels::UnaryFunction clip_;
  float bound_;
};

template <>
class ActivationRows<double> {
 public:
  ActivationRows(const RecurrentParams& params, Isa)
      : specs_(params.activations), clipped_(params.has_clip()), bound_(params.clip) {}

  void apply(size_t i, double* x, int64_t n) const {
    const double alpha = specs_[i].alpha, beta = specs_[i].beta;
    // The comparisons let NaN through.
    const auto each = [&](auto function) {
      for (int64_t j = 0; j < n; ++j) {
        double v = x[j];
        if (clipped_) v = v < -bound_ ? -bound_ : v > bound_ ? bound_ : v;
        x[j] = function(v);
      }
    };
    switch (specs_[i].kind) {
      case RecurrentActivation::kRelu:
        return each([](double v) { return v < 0 ? 0.0 : v; });
      case RecurrentActivation::kTanh:
        return each([](double v) { return std::tanh(v); });
      case RecurrentActivation::kSigmoid:
        return each([](double v) { return 1 / (1 + std::exp(-v)); });
      case RecurrentActivation::kAffine:
        return each([&](double v) { return alpha * v + beta; });
      case RecurrentActivation::kLeakyRelu:
        return each([&](double v) { return v < 0 ? alpha * v : v; });
      case RecurrentActivation::kThresholdedRelu:
        return each([&](double v) { return v < alpha ? 0.0 : v; });
      case RecurrentActivation::kScaledTanh:
        return each([&](double v) { return alpha * std::tanh(beta * v); });
      case RecurrentActivation::kHardSigmoid:
        return each([&](double v) {
          const double y = alpha * v + beta;
          return y < 0 ? 0.0 : y > 1 ? 1.0 : y;
        });
      case RecurrentActivation::kElu:
        return each([&](double v) { return v < 0 ? alpha * std::expm1(v) : v; });
      case RecurrentActivation::kSoftsign:
        return each([](double v) { return v / (1 + std::fabs(v)); });
      case RecurrentActivation::kSoftplus:
        return each(
            [](double v) { return std::log1p(std::exp(-std::fabs(v))) + (v < 0 ? 0.0 : v); });
    }
  }

 private:
  std::vector<ActivationSpec> specs_;
  bool clipped_;
  double bound_;
};

}  // namespace sardonyx
