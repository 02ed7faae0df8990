// Depthwise convolution on one thread: GFLOP/s and the share of this thread's multiply-add peak.
#include <benchmark/benchmark.h>

#include <string>

#include "kernels/blocked/aligned_floats.h"
#include "kernels/depthwise/depthwise.h"
#include "kernels/gemm/fma_peak.h"

namespace sardonyx::kernels {
namespace {

using testing::AlignedFloats;

struct Shape {
  int64_t channels, out, kernel, stride;
};
constexpr Shape kShapes[] = {{32, 160, 3, 1}, {64, 80, 3, 1},  {128, 40, 3, 1}, {64, 80, 3, 2},
                             {256, 20, 3, 2}, {32, 160, 5, 1}, {64, 80, 5, 1},  {128, 40, 5, 1},
                             {128, 40, 5, 2}, {512, 14, 3, 1}, {1024, 7, 3, 1}, {64, 40, 7, 1}};

void run(benchmark::State& state, Isa isa, int block, const Shape& s) {
  DepthwiseArgs args;
  args.shape = {1,
                s.channels,
                {s.out * s.stride, s.out * s.stride, s.out, s.out, s.kernel, s.kernel, s.stride,
                 s.stride, 1, 1, s.kernel / 2, s.kernel / 2}};
  args.block = block;
  AlignedFloats input(blocked_size(1, s.channels, s.out * s.out * s.stride * s.stride, block),
                      0.5f);
  AlignedFloats output(blocked_size(1, s.channels, s.out * s.out, block), 0.0f);
  AlignedFloats weights(packed_depthwise_weights_size(args.shape, block), 0.25f);
  AlignedFloats bias(packed_depthwise_bias_size(args.shape, block), 1.0f);
  args.input = input.data(), args.weights = weights.data(), args.bias = bias.data();
  args.output = output.data();
  args.epilogue = {Activation::kHardSwish, 1.0f / 6, 0.5f};
  const DepthwiseKernels& kernels = depthwise_kernels(isa);
  for (auto _ : state) {
    kernels.run(args, {0, block_count(s.channels, block), 0, s.out});
    benchmark::ClobberMemory();
  }
  const double flops = 2.0 * static_cast<double>(s.channels * s.out * s.out * s.kernel * s.kernel);
  state.counters["flops"] =
      benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["peak%"] = benchmark::Counter(flops / measure_fma_peak(isa) * 100,
                                               benchmark::Counter::kIsIterationInvariantRate);
}

const bool kRegistered = [] {
  for (Isa isa : supported_isas()) {
    for (int block : {8, 16}) {
      for (const Shape& s : kShapes) {
        const std::string name = std::string("depthwise/") + to_string(isa) + "/c" +
                                 std::to_string(block) + "/" + std::to_string(s.kernel) + "x" +
                                 std::to_string(s.kernel) + "_s" + std::to_string(s.stride) + "_" +
                                 std::to_string(s.channels) + "_" + std::to_string(s.out);
        benchmark::RegisterBenchmark(name.c_str(), run, isa, block, s);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace sardonyx::kernels
