#include "kernels/elementwise/elementwise.h"

#include <functional>

#include "kernels/test_util.h"

namespace sardonyx::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

constexpr double kRootHalf = 0.70710678118654752440;

struct Unary {
  UnaryOp op;
  const char* name;
  std::function<double(double)> exact;
  double max_ulp;           // either bound suffices
  double max_absolute = 0;  // times max(1, |x|)
  float alpha = 0, beta = 0;
  float low = -100, high = 100;  // dense sweep
};

double clamp01(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

const std::vector<Unary>& unaries() {
  static const std::vector<Unary> rows = {
      {UnaryOp::kCopy, "copy", [](double x) { return x; }, 0},
      {UnaryOp::kRelu, "relu", [](double x) { return x < 0 ? 0 : x; }, 0},
      {UnaryOp::kLeakyRelu, "leaky_relu", [](double x) { return x < 0 ? 0.25 * x : x; }, 0.5, 0,
       0.25f},
      {UnaryOp::kClip, "clip", [](double x) { return x < -3  ? -3
                                                     : x > 6 ? 6
                                                             : x; }, 0, 0, -3, 6},
      {UnaryOp::kHardSigmoid, "hard_sigmoid", [](double x) { return clamp01(0.25 * x + 0.5); }, 1,
       1e-7, 0.25f, 0.5f, -4, 4},
      {UnaryOp::kHardSwish, "hard_swish", [](double x) { return x * clamp01(0.25 * x + 0.5); }, 2,
       2e-7, 0.25f, 0.5f, -4, 4},
      {UnaryOp::kSigmoid, "sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, 4, 1.2e-38},
      {UnaryOp::kSilu, "silu", [](double x) { return x / (1 + std::exp(-x)); }, 5, 1.2e-38},
      {UnaryOp::kTanh, "tanh", [](double x) { return std::tanh(x); }, 6, 0, 0, 0, -10, 10},
      {UnaryOp::kGelu, "gelu", [](double x) { return 0.5 * x * std::erfc(-x * kRootHalf); }, 2,
       4e-7, 0, 0, -7, 7},
      {UnaryOp::kGeluTanh, "gelu_tanh",
       [](double x) {
         return x / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
       },
       2, 4e-7, 0, 0, -7, 7},
      {UnaryOp::kAbs, "abs", [](double x) { return std::fabs(x); }, 0},
      {UnaryOp::kNeg, "neg", [](double x) { return -x; }, 0},
      {UnaryOp::kSign, "sign", [](double x) { return x > 0   ? 1
                                                     : x < 0 ? -1
                                                             : x; }, 0},
      {UnaryOp::kFloor, "floor", [](double x) { return std::floor(x); }, 0},
      {UnaryOp::kCeil, "ceil", [](double x) { return std::ceil(x); }, 0},
      {UnaryOp::kRound, "round", [](double x) { return std::nearbyint(x); }, 0},
      {UnaryOp::kReciprocal, "reciprocal", [](double x) { return 1 / x; }, 0.5},
      {UnaryOp::kSqrt, "sqrt", [](double x) { return std::sqrt(x); }, 0.5},
      {UnaryOp::kSquare, "square", [](double x) { return x * x; }, 0.5},
      {UnaryOp::kExp, "exp", [](double x) { return std::exp(x); }, 2, 0, 0, 0, -105, 90},
      {UnaryOp::kLog, "log", [](double x) { return std::log(x); }, 2, 0, 0, 0, 0, 4},
      {UnaryOp::kErf, "erf", [](double x) { return std::erf(x); }, 1, 4e-7, 0, 0, -5, 5},
      {UnaryOp::kSin, "sin", [](double x) { return std::sin(x); }, 3, 2e-7},
      {UnaryOp::kCos, "cos", [](double x) { return std::cos(x); }, 3, 2e-7},
      {UnaryOp::kSoftplus, "softplus",
       [](double x) { return (x > 0 ? x : 0) + std::log1p(std::exp(-std::fabs(x))); }, 4},
      {UnaryOp::kSoftsign, "softsign", [](double x) { return x / (1 + std::fabs(x)); }, 2},
      {UnaryOp::kElu, "elu", [](double x) { return x < 0 ? 1.5 * std::expm1(x) : x; }, 4, 0, 1.5f},
      {UnaryOp::kSelu, "selu", [](double x) { return 2 * (x < 0 ? 1.5 * std::expm1(x) : x); }, 5, 0,
       1.5f, 2},
      {UnaryOp::kCelu, "celu", [](double x) { return x < 0 ? 2 * std::expm1(x / 2) : x; }, 5, 0, 2},
      {UnaryOp::kThresholdedRelu, "thresholded_relu", [](double x) { return x <= 1 ? 0 : x; }, 0, 0,
       1},
      {UnaryOp::kMish, "mish", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }, 4,
       1e-6},
  };
  return rows;
}

class UnaryTest : public EachIsa {};
SDX_TEST_EACH_ISA(UnaryTest);

TEST_P(UnaryTest, EveryRowKeepsItsBound) {
  const UnaryKernels& kernels = unary_kernels(GetParam());
  ASSERT_EQ(unaries().size(), static_cast<size_t>(UnaryOp::kCount));
  for (const Unary& row : unaries()) {
    std::vector<float> in = special_floats();
    const size_t specials = in.size();
    in.resize(specials + 40000);
    fill_uniform(std::span(in).subspan(specials, 20000), row.low, row.high);
    fill_uniform(std::span(in).subspan(specials + 20000), -1, 1);
    for (size_t i = specials + 30000; i < in.size(); ++i) {
      in[i] = std::bit_cast<float>(static_cast<uint32_t>(i * 2654435761u));
    }
    std::vector<float> out(in.size());
    kernels[row.op](in.data(), out.data(), static_cast<int64_t>(in.size()), row.alpha, row.beta);
    double worst = 0;
    float worst_at = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      const double exact = row.exact(in[i]);
      if (!std::isinf(in[i]) && std::isfinite(out[i]) &&
          std::fabs(out[i] - exact) <= row.max_absolute * std::fmax(1, std::fabs(in[i]))) {
        continue;
      }
      const double error = ulp_error(out[i], exact);
      if (!(error <= worst)) worst = error, worst_at = in[i];
    }
    EXPECT_LE(worst, row.max_ulp) << row.name << " at " << worst_at;
  }
}

TEST_P(UnaryTest, SizesPositionsAndInPlaceGiveTheSameBits) {
  const UnaryKernels& kernels = unary_kernels(GetParam());
  std::vector<float> values(40), expected(40);
  fill_uniform(values, -3, 3);
  values[7] = kNan, values[20] = -kInf, values[33] = 1e9f;
  for (const Unary& row : unaries()) {
    kernels[row.op](values.data(), expected.data(), 40, row.alpha, row.beta);
    for (int64_t n = 0; n <= 35; ++n) {
      for (int64_t offset : {0, 5}) {
        GuardedBuffer<float> in(n), out(n);
        std::copy_n(values.data() + offset, n, in.data());
        kernels[row.op](in.data(), out.data(), n, row.alpha, row.beta);
        kernels[row.op](in.data(), in.data(), n, row.alpha, row.beta);
        for (int64_t i = 0; i < n; ++i) {
          const float want = expected[offset + i];
          ASSERT_TRUE(same_bits(out[i], want) || (std::isnan(out[i]) && std::isnan(want)))
              << row.name << " n " << n << " at " << i << ": " << out[i] << " " << want;
          ASSERT_TRUE(same_bits(in[i], out[i]) || std::isnan(want)) << row.name << " in place";
        }
      }
    }
  }
}

struct Binary {
  BinaryOp op;
  const char* name;
  float (*exact)(float, float);
};
const Binary kBinaries[] = {
    {BinaryOp::kAdd, "add", [](float a, float b) { return a + b; }},
    {BinaryOp::kSub, "sub", [](float a, float b) { return a - b; }},
    {BinaryOp::kMul, "mul", [](float a, float b) { return a * b; }},
    {BinaryOp::kDiv, "div", [](float a, float b) { return a / b; }},
    {BinaryOp::kMin, "min",
     [](float a, float b) { return std::isnan(a) || std::isnan(b) ? kNan
                                   : a < b                        ? a
                                                                  : b; }},
    {BinaryOp::kMax, "max",
     [](float a, float b) { return std::isnan(a) || std::isnan(b) ? kNan
                                   : a > b                        ? a
                                                                  : b; }},
    {BinaryOp::kPow, "pow",
     [](float a, float b) { return static_cast<float>(std::pow(double{a}, double{b})); }},
    {BinaryOp::kPrelu, "prelu", [](float a, float b) { return a < 0 ? a * b : a; }},
};

class BinaryTest : public EachIsa {};
SDX_TEST_EACH_ISA(BinaryTest);

TEST_P(BinaryTest, EveryRowStepAndSize) {
  const BinaryKernels& kernels = binary_kernels(GetParam());
  ASSERT_EQ(std::size(kBinaries), static_cast<size_t>(BinaryOp::kCount));
  const std::vector<float> special = special_floats();
  for (const Binary& row : kBinaries) {
    const auto check = [&](float a, float b, float out) {
      const float exact = row.exact(a, b);
      const double bound = row.op == BinaryOp::kPow ? 1.5 : 0.0;
      ASSERT_LE(ulp_error(out, exact), bound) << row.name << "(" << a << ", " << b << ") " << out;
    };
    for (int steps = 0; steps < 4; ++steps) {
      const int a_step = steps & 1, b_step = steps >> 1;
      for (int64_t n = 0; n <= 35; ++n) {
        GuardedBuffer<float> a(a_step ? n : 1), b(b_step ? n : 1), out(n);
        fill_uniform(a, -3, 3, 1);
        fill_uniform(b, -3, 3, 2);
        kernels[row.op](a.data(), a_step, b.data(), b_step, out.data(), n);
        for (int64_t i = 0; i < n; ++i) check(a[i * a_step], b[i * b_step], out[i]);
        if (a_step) {
          kernels[row.op](a.data(), 1, b.data(), b_step, a.data(), n);
          for (int64_t i = 0; i < n; ++i) ASSERT_TRUE(same_bits(a[i], out[i]) || std::isnan(a[i]));
        } else if (b_step) {
          kernels[row.op](a.data(), 0, b.data(), 1, b.data(), n);
          for (int64_t i = 0; i < n; ++i) ASSERT_TRUE(same_bits(b[i], out[i]) || std::isnan(b[i]));
        }
      }
    }
    // Every pair of special values, as vectors and against a single value.
    for (float b : special) {
      const int64_t n = static_cast<int64_t>(special.size());
      const std::vector<float> bs(special.size(), b);
      std::vector<float> out(special.size());
      kernels[row.op](special.data(), 1, bs.data(), 1, out.data(), n);
      for (size_t i = 0; i < out.size(); ++i) check(special[i], b, out[i]);
      kernels[row.op](special.data(), 1, &b, 0, out.data(), n);
      for (size_t i = 0; i < out.size(); ++i) check(special[i], b, out[i]);
      kernels[row.op](&b, 0, special.data(), 1, out.data(), n);
      for (size_t i = 0; i < out.size(); ++i) check(b, special[i], out[i]);
    }
  }
}

}  // namespace
}  // namespace sardonyx::kernels
