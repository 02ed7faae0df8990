// Matrix product against a weight packed in panels, by element type: the GEMM kernels for float,
// a plain loop over panels of the same form for double. Used by the recurrent operators and their
// lowering.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace sardonyx {

// c = a * b (+ bias) (+ c when `accumulate`).
template <typename T>
struct PanelArgs {
  int64_t m = 0, n = 0, k = 0;
  const T* a = nullptr;
  int64_t lda = 0;
  const T* packed = nullptr;
  T* c = nullptr;
  int64_t ldc = 0;
  const T* bias = nullptr;
  bool accumulate = false;
};

template <typename T>
class PanelProduct;

template <>
class PanelProduct<float> {
 public:
  explicit PanelProduct(Isa isa) : gemm_(kernels::gemm_kernels(isa)) {}
  int64_t mr() const { return gemm_.mr; }
  int64_t nr() const { return gemm_.nr; }

  void run(const PanelArgs<float>& p) const {
    if (p.m == 0 || p.n == 0) return;
    kernels::GemmArgs args;
    args.m = p.m;
    args.n = p.n;
    args.k = p.k;
    args.a = p.a;
    args.lda = p.lda;
    args.packed_b = p.packed;
    args.c = p.c;
    args.ldc = p.ldc;
    args.bias = p.bias;
    if (p.accumulate) {
      args.residual = p.c;
      args.ld_residual = p.ldc;
    }
    gemm_.run(args);
  }

 private:
  const kernels::GemmKernels& gemm_;
};

template <>
class PanelProduct<double> {
 public:
  explicit PanelProduct(Isa) {}
  int64_t mr() const { return 1; }
  int64_t nr() const { return kWidth; }

  void run(const PanelArgs<double>& p) const {
    for (int64_t row = 0; row < p.m; ++row) {
      const double* a = p.a + row * p.lda;
      double* c = p.c + row * p.ldc;
      const double* b = p.packed;
      for (int64_t first = 0; first < p.n; first += kWidth) {
        const int64_t columns = std::min<int64_t>(kWidth, p.n - first);
        double sum[kWidth] = {};
        for (int64_t i = 0; i < p.k; ++i, b += kWidth) {
          for (int64_t j = 0; j < kWidth; ++j) sum[j] += a[i] * b[j];
        }
        for (int64_t j = 0; j < columns; ++j) {
          if (p.bias != nullptr) sum[j] += p.bias[first + j];
          c[first + j] = p.accumulate ? c[first + j] + sum[j] : sum[j];
        }
      }
    }
  }

 private:
  static constexpr int64_t kWidth = 8;
};

}  // namespace sardonyx
