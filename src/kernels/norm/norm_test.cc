#include "kernels/norm/norm.h"

#include "kernels/test_util.h"

namespace sardonyx::kernels {
namespace {

class NormTest : public EachIsa {};
SDX_TEST_EACH_ISA(NormTest);

enum Options {
  kResidual = 1,
  kResidualBias = 2,
  kScale = 4,
  kBias = 8,
  kSum = 16,
  kStatistics = 32
};

struct Buffers {
  Buffers(int64_t rows, int64_t columns)
      : in(rows * columns),
        residual(rows * columns),
        residual_bias(columns),
        scale(columns),
        bias(columns),
        out(rows * columns),
        sum(rows * columns),
        mean(rows),
        inv_std(rows) {
    fill_uniform(in, -2, 2, 1);
    fill_uniform(residual, -2, 2, 2);
    fill_uniform(residual_bias, -1, 1, 3);
    fill_uniform(scale, 0.5, 2, 4);
    fill_uniform(bias, -1, 1, 5);
  }
  NormArgs args(int64_t rows, int64_t columns, int options) {
    NormArgs a;
    a.rows = rows, a.columns = columns, a.epsilon = 1e-5f;
    a.in = in.data(), a.in_stride = columns, a.out = out.data(), a.out_stride = columns;
    if (options & kResidual) a.residual = residual.data(), a.residual_stride = columns;
    if (options & kResidual && options & kResidualBias) a.residual_bias = residual_bias.data();
    if (options & kScale) a.scale = scale.data();
    if (options & kBias) a.bias = bias.data();
    if (options & kSum) a.sum = sum.data();
    if (options & kStatistics) a.mean = mean.data(), a.inv_std = inv_std.data();
    return a;
  }
  GuardedBuffer<float> in, residual, residual_bias, scale, bias, out, sum, mean, inv_std;
};

void check_row(const NormArgs& a, bool centered, int64_t row, const float* out) {
  const int64_t n = a.columns;
  std::vector<double> x(static_cast<size_t>(n));
  double mean = 0, variance = 0;
  for (int64_t i = 0; i < n; ++i) {
    x[i] = a.in[row * a.in_stride + i];
    if (a.residual) x[i] += a.residual[row * n + i];
    if (a.residual_bias) x[i] += a.residual_bias[i];
    mean += x[i] / static_cast<double>(n);
    if (a.sum) {
      ASSERT_NEAR(a.sum[row * n + i], x[i], 1e-6);
    }
  }
  if (!centered) mean = 0;
  for (double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(n);
  const double inv_std = 1 / std::sqrt(variance + a.epsilon);
  if (centered && a.mean) {
    ASSERT_NEAR(a.mean[row], mean, 1e-6);
  }
  if (a.inv_std) {
    ASSERT_NEAR(a.inv_std[row], inv_std, 2e-6 * inv_std + 1e-7 * inv_std * inv_std);
  }
  for (int64_t i = 0; i < n; ++i) {
    double want = (x[i] - mean) * inv_std * (a.scale ? a.scale[i] : 1);
    want += a.bias ? a.bias[i] : 0;
    ASSERT_NEAR(out[i], want, 4e-6 * std::fmax(1, inv_std)) << "column " << i << " of " << n;
  }
}

TEST_P(NormTest, EveryOptionAndSize) {
  const NormKernels& kernels = norm_kernels(GetParam());
  for (int64_t columns : {0, 1, 2, 5, 8, 15, 16, 17, 33, 64, 67, 130}) {
    for (int64_t rows : {0, 1, 3}) {
      Buffers b(rows, columns);
      for (int options = 0; options < 128; ++options) {
        const bool centered = options < 64;
        const NormArgs args = b.args(rows, columns, options);
        (centered ? kernels.layer_norm : kernels.rms_norm)(args);
        for (int64_t r = 0; r < rows && columns > 0; ++r) {
          ASSERT_NO_FATAL_FAILURE(check_row(args, centered, r, args.out + r * columns))
              << "options " << options;
        }
      }
    }
  }
}

TEST_P(NormTest, InPlaceGivesTheSameBits) {
  const NormKernels& kernels = norm_kernels(GetParam());
  const int64_t rows = 3, columns = 37;
  for (int options : {kScale | kBias, kResidual | kScale | kBias}) {
    Buffers b(rows, columns);
    NormArgs args = b.args(rows, columns, options);
    kernels.layer_norm(args);
    args.out = b.in.data();
    kernels.layer_norm(args);
    for (int64_t i = 0; i < b.in.size(); ++i) ASSERT_TRUE(same_bits(b.in[i], b.out[i]));
  }
}

TEST_P(NormTest, LargeMeanKeepsTheVariance) {
  const NormKernels& kernels = norm_kernels(GetParam());
  std::vector<float> in(1000), out(1000);
  for (size_t i = 0; i < in.size(); ++i) in[i] = 4096.0f + (i % 2 ? 0.5f : -0.5f);
  NormArgs args;
  args.rows = 1, args.columns = 1000, args.in = in.data(), args.out = out.data();
  kernels.layer_norm(args);
  for (size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], i % 2 ? 1 : -1, 1e-3);
}

}  // namespace
}  // namespace sardonyx::kernels
