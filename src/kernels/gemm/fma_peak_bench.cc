#include "kernels/gemm/fma_peak.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/fma_peak_bench.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <chrono>

#include "kernels/dispatch.h"

#ifndef SARDONYX_FMA_PEAK_TABLE
#define SARDONYX_FMA_PEAK_TABLE
namespace sardonyx::kernels {
struct FmaPeak {
  int lanes;
  float (*spin)(int steps, float x);  // 12 multiply-adds of `lanes` a step
};
const FmaPeak& fma_peak(Isa isa);
}  // namespace sardonyx::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

float spin(int steps, float x) {
  const hn::ScalableTag<float> d;
  // Different start values: equal sums would be merged into one.
  const auto start = [&](float i) HWY_ATTR { return hn::Set(d, x + i); };
  auto s0 = start(0), s1 = start(1), s2 = start(2), s3 = start(3), s4 = start(4), s5 = start(5);
  auto s6 = start(6), s7 = start(7), s8 = start(8), s9 = start(9), s10 = start(10), s11 = start(11);
  const auto a = hn::Set(d, x * 0.5f), b = hn::Set(d, x * 0.25f);
  for (int i = 0; i < steps; ++i) {
    s0 = hn::MulAdd(s0, a, b), s1 = hn::MulAdd(s1, a, b), s2 = hn::MulAdd(s2, a, b);
    s3 = hn::MulAdd(s3, a, b), s4 = hn::MulAdd(s4, a, b), s5 = hn::MulAdd(s5, a, b);
    s6 = hn::MulAdd(s6, a, b), s7 = hn::MulAdd(s7, a, b), s8 = hn::MulAdd(s8, a, b);
    s9 = hn::MulAdd(s9, a, b), s10 = hn::MulAdd(s10, a, b), s11 = hn::MulAdd(s11, a, b);
  }
  s0 =
      hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(hn::Add(s4, s5), hn::Add(s6, s7)));
  return hn::GetLane(hn::Add(s0, hn::Add(hn::Add(s8, s9), hn::Add(s10, s11))));
}

const FmaPeak& fma_peak_row() {
  static const FmaPeak table{static_cast<int>(hn::Lanes(hn::ScalableTag<float>())), spin};
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
SDX_KERNEL_TABLE(FmaPeak, fma_peak, fma_peak_row)

double measure_fma_peak(Isa isa) {
  const FmaPeak& row = fma_peak(isa);
  constexpr int kSteps = 300000;
  volatile float sink = 0;
  double best = 0;
  for (int i = 0; i < 4; ++i) {
    const auto start = std::chrono::steady_clock::now();
    sink = row.spin(kSteps, 1.0f + static_cast<float>(i));
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::max(best, 2.0 * 12 * row.lanes * kSteps / time.count());
  }
  (void)sink;
  return best;
}

}  // namespace sardonyx::kernels
#endif
