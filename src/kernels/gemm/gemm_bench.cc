// GEMM on one thread: GFLOP/s and the share of this thread's own multiply-add peak, measured per
// instruction set with the smallest tile that needs no memory.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "kernels/gemm/fma_peak.h"
#include "kernels/gemm/gemm.h"

namespace sardonyx::kernels {
namespace {

struct Shape {
  int64_t m, n, k;
};
constexpr Shape kShapes[] = {
    {128, 1536, 384},   {128, 384, 384}, {128, 384, 1536}, {40, 120, 120},   {40, 360, 120},
    {40, 240, 120},     {40, 120, 240},  {128, 128, 32},   {128, 32, 128},   {512, 512, 512},
    {1024, 1024, 1024}, {128, 768, 768}, {128, 768, 3072}, {128, 3072, 768}, {49, 512, 4608},
    {1, 1000, 2048},    {1, 384, 384},   {1, 512, 128},    {1, 4096, 4096},  {2, 1536, 384},
    {4, 1536, 384},     {8, 1536, 384},  {16, 1536, 384},
};

void run(benchmark::State& state, Isa isa, const Shape& shape, Activation activation) {
  const GemmKernels& kernels = gemm_kernels(isa);
  std::vector<float> a(shape.m * shape.k, 0.5f), c(shape.m * shape.n), bias(shape.n, 1.0f);
  std::vector<float> packed(packed_b_floats(shape.k, shape.n, kernels.nr), 0.25f);
  GemmArgs args;
  args.m = shape.m, args.n = shape.n, args.k = shape.k, args.a = a.data(), args.lda = shape.k;
  args.packed_b = packed.data(), args.c = c.data(), args.ldc = shape.n, args.bias = bias.data();
  args.epilogue = {activation, 0, 0};
  for (auto _ : state) {
    kernels.run(args);
    benchmark::ClobberMemory();
  }
  const double flops = 2.0 * static_cast<double>(shape.m * shape.n * shape.k);
  state.counters["flops"] =
      benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
  // Percent of peak. The peak is measured once more beside every shape: the clock of a shared
  // machine moves.
  const double peak = measure_fma_peak(isa);
  state.counters["peak%"] =
      benchmark::Counter(flops / peak * 100, benchmark::Counter::kIsIterationInvariantRate);
  if (shape.m == 1) {
    state.counters["bytes"] = benchmark::Counter(4.0 * static_cast<double>(packed.size()),
                                                 benchmark::Counter::kIsIterationInvariantRate);
  }
}

const bool kRegistered = [] {
  for (Isa isa : supported_isas()) {
    for (const Shape& shape : kShapes) {
      const std::string name = std::string("gemm/") + to_string(isa) + "/" +
                               std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" +
                               std::to_string(shape.k);
      benchmark::RegisterBenchmark(name.c_str(), run, isa, shape, Activation::kNone);
      if (shape.n == 1536 && shape.m == 128) {
        benchmark::RegisterBenchmark((name + "/gelu").c_str(), run, isa, shape, Activation::kGelu);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace sardonyx::kernels
