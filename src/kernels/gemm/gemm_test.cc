#include "kernels/gemm/gemm.h"

#include "kernels/test_util.h"

namespace sardonyx::kernels {
namespace {

class GemmTest : public EachIsa {};
SDX_TEST_EACH_ISA(GemmTest);

double activate(const Epilogue& e, double x) {
  const auto hard_sigmoid = [&] { return std::fmax(0, std::fmin(1, e.alpha * x + e.beta)); };
  switch (e.activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kLeakyRelu:
      return x < 0 ? e.alpha * x : x;
    case Activation::kClip:
      return x < e.alpha ? e.alpha : x > e.beta ? e.beta : x;
    case Activation::kHardSigmoid:
      return hard_sigmoid();
    case Activation::kHardSwish:
      return x * hard_sigmoid();
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kGelu:
      return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5)));
    case Activation::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  }
  return x;
}

struct Case {
  int64_t m, n, k;
  bool bias = true, residual = true;
  Epilogue epilogue;
};

// Packs, runs and compares with sums in double. a, c and the residual have padded rows whose
// padding must stay untouched; every buffer ends at a guard page.
void check(const GemmKernels& kernels, const Case& test) {
  SCOPED_TRACE(testing::Message() << "m " << test.m << " n " << test.n << " k " << test.k);
  const int64_t lda = test.k + 3, ldc = test.n + 5, ldr = test.n + 1;
  const auto extent = [](int64_t rows, int64_t stride, int64_t columns) {
    return rows == 0 || columns == 0 ? 0 : (rows - 1) * stride + columns;
  };
  GuardedBuffer<float> a(extent(test.m, lda, test.k)), b(test.k * test.n), bias(test.n);
  GuardedBuffer<float> residual(extent(test.m, ldr, test.n)), c(extent(test.m, ldc, test.n));
  GuardedBuffer<float> packed(packed_b_floats(test.k, test.n, kernels.nr));
  fill_uniform(a, -1, 1, 1);
  fill_uniform(b, -1, 1, 2);
  fill_uniform(bias, -2, 2, 3);
  fill_uniform(residual, -2, 2, 4);
  for (float& value : c) value = 77;
  pack_b(b.data(), test.n, 1, test.k, test.n, kernels.nr, packed.data());
  GemmArgs args;
  args.m = test.m, args.n = test.n, args.k = test.k;
  args.a = a.data(), args.lda = lda, args.packed_b = packed.data();
  args.c = c.data(), args.ldc = ldc;
  args.bias = test.bias ? bias.data() : nullptr;
  args.residual = test.residual ? residual.data() : nullptr, args.ld_residual = ldr;
  args.epilogue = test.epilogue;
  kernels.run(args);
  for (int64_t i = 0; i < test.m; ++i) {
    for (int64_t j = 0; j < test.n; ++j) {
      double sum = 0, magnitude = 4;
      for (int64_t k = 0; k < test.k; ++k) {
        const double product = static_cast<double>(a[i * lda + k]) * b[k * test.n + j];
        sum += product;
        magnitude += std::fabs(product);
      }
      if (test.bias) sum += bias[j];
      if (test.residual) sum += residual[i * ldr + j];
      const double bound = 1e-6 + magnitude * 6e-8 * std::sqrt(static_cast<double>(test.k) + 8);
      ASSERT_NEAR(c[i * ldc + j], activate(test.epilogue, sum), bound) << "at " << i << ", " << j;
    }
    for (int64_t j = test.n; j < ldc && i * ldc + j < c.size(); ++j) {
      ASSERT_EQ(c[i * ldc + j], 77) << "wrote beyond row " << i;
    }
  }
}

TEST_P(GemmTest, AgreesWithDoubleOnEdgeSizes) {
  const GemmKernels& kernels = gemm_kernels(GetParam());
  std::vector<int64_t> rows, columns;
  for (int64_t m = 0; m <= 2 * kernels.mr + 1; ++m) rows.push_back(m);
  for (int64_t panels : {0, 1, 2, 4, 5}) {
    for (int64_t extra : {-1, 0, 1, 7}) columns.push_back(panels * kernels.nr + extra);
  }
  for (int64_t m : rows) {
    for (int64_t n : columns) {
      if (n >= 0) check(kernels, {m, n, 5 + m % 3, m % 2 == 0, n % 2 == 0, {}});
    }
  }
  for (int64_t k : {0, 1, 2, 3, 383, 384, 385, 768, 1001}) {
    check(kernels, {3, 2 * kernels.nr - 3, k, true, true, {}});
    check(kernels, {kernels.mr + 1, kernels.nr, k, true, false, {}});
  }
  check(kernels, {400, kernels.nr + 3, 390, false, true, {}});
  // Rows 2048 bytes apart take the copying path (lda is k + 3).
  for (int64_t m : {5, 6, 7, 40}) check(kernels, {m, 9 * kernels.nr + 3, 509, true, true, {}});
}

TEST_P(GemmTest, AppliesEveryActivationOnceAfterTheLastBlock) {
  const GemmKernels& kernels = gemm_kernels(GetParam());
  for (int a = 0; a <= static_cast<int>(Activation::kGeluTanh); ++a) {
    Epilogue epilogue{static_cast<Activation>(a), 0.2f, 0.5f};
    if (epilogue.activation == Activation::kClip) epilogue.alpha = -0.3f;
    for (int64_t k : {9, 400}) {
      check(kernels, {kernels.mr + 1, kernels.nr + 3, k, true, true, epilogue});
    }
  }
}

TEST_P(GemmTest, BitsDoNotDependOnTheSplit) {
  const GemmKernels& kernels = gemm_kernels(GetParam());
  const int64_t m = 29, n = 5 * kernels.nr - 2, k = 800;
  std::vector<float> a(m * k), b(k * n), bias(n), packed(packed_b_floats(k, n, kernels.nr));
  fill_uniform(a, -1, 1, 5);
  fill_uniform(b, -1, 1, 6);
  fill_uniform(bias, -1, 1, 7);
  pack_b(b.data(), n, 1, k, n, kernels.nr, packed.data());
  std::vector<float> whole(m * n, 0.5f), parts;
  GemmArgs args;
  args.m = m, args.n = n, args.k = k, args.a = a.data(), args.lda = k;
  args.packed_b = packed.data(), args.c = whole.data(), args.ldc = n, args.bias = bias.data();
  // In place: the residual is c itself.
  args.residual = whole.data(), args.ld_residual = n;
  args.epilogue = {Activation::kTanh, 0, 0};
  kernels.run(args);
  for (int64_t height : {1, 2, 3, 4, 7, 13}) {
    for (int64_t panels : {1, 2, 3, 5}) {
      parts.assign(whole.size(), 0.5f);
      for (int64_t i = 0; i < m; i += height) {
        for (int64_t p = 0; p * kernels.nr < n; p += panels) {
          const int64_t j = p * kernels.nr;
          GemmArgs part = args;
          part.m = std::min(height, m - i);
          part.n = std::min(panels * kernels.nr, n - j);
          part.a = a.data() + i * k;
          part.packed_b = packed.data() + p * k * kernels.nr;
          part.c = parts.data() + i * n + j;
          part.residual = part.c;
          part.bias = bias.data() + j;
          kernels.run(part);
        }
      }
      for (size_t i = 0; i < whole.size(); ++i) {
        ASSERT_TRUE(same_bits(whole[i], parts[i])) << height << " rows, " << panels << " panels";
      }
    }
  }
}

TEST_P(GemmTest, CarriesNanAndInfinityThroughClamps) {
  const GemmKernels& kernels = gemm_kernels(GetParam());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> a = {nan, inf, -inf, 1.0f};
  std::vector<float> b(kernels.nr + 1, 1.0f), c(4 * b.size());
  std::vector<float> packed(packed_b_floats(1, kernels.nr + 1, kernels.nr));
  pack_b(b.data(), kernels.nr + 1, 1, 1, kernels.nr + 1, kernels.nr, packed.data());
  GemmArgs args;
  args.m = 4, args.n = kernels.nr + 1, args.k = 1, args.a = a.data(), args.lda = 1;
  args.packed_b = packed.data(), args.c = c.data(), args.ldc = args.n;
  args.epilogue = {Activation::kRelu, 0, 0};
  kernels.run(args);
  for (int64_t j : {int64_t{0}, args.n - 1}) {
    EXPECT_TRUE(std::isnan(c[j]));
    EXPECT_EQ(c[args.n + j], inf);
    EXPECT_EQ(c[2 * args.n + j], 0);
    EXPECT_EQ(c[3 * args.n + j], 1);
  }
}

TEST(PackB, TransposedSourceGivesTheSamePanels) {
  for (int nr : {4, 8, 16, 32}) {
    for (int64_t k : {0, 1, 15, 16, 37}) {
      for (int64_t n : {1, 4, 31, 33}) {
        std::vector<float> b(k * n), transposed(k * n);
        fill_uniform(b, -1, 1);
        for (int64_t i = 0; i < k; ++i) {
          for (int64_t j = 0; j < n; ++j) transposed[j * k + i] = b[i * n + j];
        }
        GuardedBuffer<float> x(packed_b_floats(k, n, nr)), y(packed_b_floats(k, n, nr));
        pack_b(b.data(), n, 1, k, n, nr, x.data());
        pack_b(transposed.data(), 1, k, k, n, nr, y.data());
        for (int64_t i = 0; i < x.size(); ++i) {
          const int64_t panel = k == 0 ? 0 : i / (k * nr);
          const int64_t row = k == 0 ? 0 : i / nr % k;
          const int64_t column = panel * nr + i % nr;
          ASSERT_EQ(x[i], column < n ? b[row * n + column] : 0.0f);
          ASSERT_EQ(y[i], x[i]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx::kernels
