// Element-wise, softmax, normalisation, reduction and transpose rows on one thread: elements per
// second on data that stays in L2 (a row of 384 to 4096 floats, 256 KiB in all).
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "kernels/elementwise/elementwise.h"
#include "kernels/norm/norm.h"
#include "kernels/reduce/reduce.h"
#include "kernels/softmax/softmax.h"
#include "kernels/transpose/transpose.h"

namespace sardonyx::kernels {
namespace {

constexpr int64_t kElements = 64 * 1024;

std::vector<float> ramp() {
  std::vector<float> values(kElements);
  for (int64_t i = 0; i < kElements; ++i) values[i] = static_cast<float>(i % 997) / 100 - 4;
  return values;
}

template <class F>
void add(Isa isa, const std::string& name, F body) {
  const std::string full = name + "/" + to_string(isa);
  benchmark::RegisterBenchmark(full.c_str(), [=](benchmark::State& state) {
    const std::vector<float> in = ramp();
    std::vector<float> out(kElements);
    for (auto _ : state) {
      body(in.data(), out.data());
      benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * kElements);
  });
}

const bool kRegistered = [] {
  struct Named {
    UnaryOp op;
    const char* name;
  };
  const Named unary[] = {{UnaryOp::kRelu, "relu"},
                         {UnaryOp::kHardSwish, "hard_swish"},
                         {UnaryOp::kSigmoid, "sigmoid"},
                         {UnaryOp::kSilu, "silu"},
                         {UnaryOp::kTanh, "tanh"},
                         {UnaryOp::kGelu, "gelu"},
                         {UnaryOp::kGeluTanh, "gelu_tanh"},
                         {UnaryOp::kErf, "erf"},
                         {UnaryOp::kExp, "exp"},
                         {UnaryOp::kLog, "log"},
                         {UnaryOp::kSin, "sin"},
                         {UnaryOp::kSqrt, "sqrt"}};
  for (const Named& row : unary) {
    for (Isa isa : supported_isas()) {
      const UnaryFunction f = unary_kernels(isa)[row.op];
      add(isa, row.name, [=](const float* in, float* out) { f(in, out, kElements, 0.2f, 0.5f); });
    }
  }
  for (Isa isa : supported_isas()) {
    const BinaryKernels& binary = binary_kernels(isa);
    const SoftmaxKernels& softmax = softmax_kernels(isa);
    const NormKernels& norm = norm_kernels(isa);
    const ReduceKernels& reduce = reduce_kernels(isa);
    const TransposeKernels& transpose = transpose_kernels(isa);
    add(isa, "add",
        [&](const float* in, float* out) { binary[BinaryOp::kAdd](in, 1, in, 1, out, kElements); });
    add(isa, "pow_general", [&](const float* in, float* out) {
      const float exponent = 1.7f;
      binary[BinaryOp::kPow](in, 1, &exponent, 0, out, kElements);
    });
    add(isa, "softmax_128", [&](const float* in, float* out) {
      softmax.softmax(kElements / 128, 128, in, 128, out, 128);
    });
    add(isa, "softmax_4096", [&](const float* in, float* out) {
      softmax.softmax(kElements / 4096, 4096, in, 4096, out, 4096);
    });
    add(isa, "softmax_strided",
        [&](const float* in, float* out) { softmax.softmax_strided(64, 1024, 1024, in, out); });
    add(isa, "layer_norm_384", [&](const float* in, float* out) {
      NormArgs args;
      args.rows = kElements / 384, args.columns = 384, args.in = in, args.in_stride = 384;
      args.scale = in, args.bias = in, args.epsilon = 1e-5f, args.out = out, args.out_stride = 384;
      norm.layer_norm(args);
    });
    add(isa, "skip_layer_norm_384", [&](const float* in, float* out) {
      NormArgs args;
      args.rows = kElements / 384, args.columns = 384, args.in = in, args.in_stride = 384;
      args.residual = in, args.residual_stride = 384, args.residual_bias = in;
      args.scale = in, args.bias = in, args.epsilon = 1e-5f, args.out = out, args.out_stride = 384;
      norm.layer_norm(args);
    });
    add(isa, "sum_rows_512", [&](const float* in, float* out) {
      reduce[ReduceOp::kSum](dense_reduce(in, kElements / 512, 512, 1, out));
    });
    add(isa, "max_rows_512", [&](const float* in, float* out) {
      reduce[ReduceOp::kMax](dense_reduce(in, kElements / 512, 512, 1, out));
    });
    add(isa, "sum_columns_512", [&](const float* in, float* out) {
      reduce[ReduceOp::kSum](dense_reduce(in, 1, kElements / 512, 512, out));
    });
    add(isa, "transpose_256x256", [&](const float* in, float* out) {
      TransposePlan plan;
      const int64_t shape[] = {256, 256}, perm[] = {1, 0};
      make_transpose_plan(shape, perm, 4, &plan);
      transpose.run(plan, in, out, 0, plan.units);
    });
    add(isa, "transpose_heads", [&](const float* in, float* out) {
      TransposePlan plan;
      const int64_t shape[] = {1, 128, 16, 32}, perm[] = {0, 2, 1, 3};
      make_transpose_plan(shape, perm, 4, &plan);
      transpose.run(plan, in, out, 0, plan.units);
    });
  }
  return true;
}();

}  // namespace
}  // namespace sardonyx::kernels
