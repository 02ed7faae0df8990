// Convolution on one thread: GFLOP/s and the share of this thread's multiply-add peak.
#include <benchmark/benchmark.h>

#include <string>

#include "kernels/blocked/aligned_floats.h"
#include "kernels/blocked/layout.h"
#include "kernels/conv/conv.h"
#include "kernels/gemm/fma_peak.h"

namespace sardonyx::kernels {
namespace {

using testing::AlignedFloats;

struct Shape {
  const char* name;
  int64_t in_channels, out_channels, out_h, out_w, kernel, stride;
  bool plain = false;
};
constexpr Shape kShapes[] = {
    {"1x1_64_128_56", 64, 128, 56, 56, 1, 1},
    {"1x1_256_512_14", 256, 512, 14, 14, 1, 1},
    {"1x1_480_480_6x80", 480, 480, 6, 80, 1, 1},
    {"1x1_512_2048_7", 512, 2048, 7, 7, 1, 1},
    {"1x1_16_32_160", 16, 32, 160, 160, 1, 1},
    {"1x1_32_64_80", 32, 64, 80, 80, 1, 1},
    {"1x1_24_96_40", 24, 96, 40, 40, 1, 1},
    {"1x1_480_120_1", 480, 120, 1, 1, 1, 1},
    {"3x3_64_56", 64, 64, 56, 56, 3, 1},
    {"3x3_128_28", 128, 128, 28, 28, 3, 1},
    {"3x3_256_14", 256, 256, 14, 14, 3, 1},
    {"3x3_512_7", 512, 512, 7, 7, 3, 1},
    {"3x3_128_128_s2_28", 128, 128, 28, 28, 3, 2},
    {"first_3_16_3x3_s2_320", 3, 16, 320, 320, 3, 2, true},
    {"first_3_64_7x7_s2_112", 3, 64, 112, 112, 7, 2, true},
};

void run(benchmark::State& state, Isa isa, int block, const Shape& s) {
  const ConvKernels& kernels = conv_kernels(isa);
  ConvArgs args;
  args.shape = {1,
                s.in_channels,
                s.out_channels,
                1,
                {s.out_h * s.stride, s.out_w * s.stride, s.out_h, s.out_w, s.kernel, s.kernel,
                 s.stride, s.stride, 1, 1, s.kernel / 2, s.kernel / 2}};
  args.tile = {block, kernels.panel_blocks(block, s.out_channels), s.plain};
  const int64_t in_pixels = s.out_h * s.stride * s.out_w * s.stride;
  AlignedFloats input(blocked_size(1, s.in_channels, in_pixels, block), 0.5f);
  AlignedFloats output(blocked_size(1, s.out_channels, s.out_h * s.out_w, block), 0.0f);
  AlignedFloats weights(packed_conv_weights_size(args.shape, args.tile), 0.25f);
  AlignedFloats bias(packed_conv_bias_size(args.shape, args.tile), 1.0f);
  args.input = input.data(), args.weights = weights.data(), args.bias = bias.data();
  args.output = output.data();
  args.epilogue = {Activation::kHardSwish, 1.0f / 6, 0.5f};
  const ConvRange range = conv_full_range(args.shape, args.tile);
  for (auto _ : state) {
    kernels.run(args, range);
    benchmark::ClobberMemory();
  }
  const double flops = 2.0 * static_cast<double>(s.in_channels * s.out_channels * s.out_h *
                                                 s.out_w * s.kernel * s.kernel);
  state.counters["flops"] =
      benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["peak%"] = benchmark::Counter(flops / measure_fma_peak(isa) * 100,
                                               benchmark::Counter::kIsIterationInvariantRate);
}

const bool kRegistered = [] {
  for (Isa isa : supported_isas()) {
    for (int block : {8, 16}) {
      for (const Shape& shape : kShapes) {
        const std::string name =
            std::string("conv/") + to_string(isa) + "/c" + std::to_string(block) + "/" + shape.name;
        benchmark::RegisterBenchmark(name.c_str(), run, isa, block, shape);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace sardonyx::kernels
