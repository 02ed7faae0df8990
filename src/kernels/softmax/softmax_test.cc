#include "kernels/softmax/softmax.h"

#include "kernels/test_util.h"

namespace sardonyx::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class SoftmaxTest : public EachIsa {};
SDX_TEST_EACH_ISA(SoftmaxTest);

// The formula over n elements `step` apart, the difference to the maximum rounded to float; out is
// dense.
std::vector<double> exact(const float* in, int64_t n, int64_t step, bool log) {
  float max = -kInf;
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) max = std::fmax(max, in[i * step]);
  std::vector<double> out(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) sum += std::exp(double{in[i * step] - max});
  for (int64_t i = 0; i < n; ++i) {
    const double x = double{in[i * step] - max};
    out[i] = log ? x - std::log(sum) : std::exp(x) / sum;
  }
  return out;
}

void expect_close(float actual, double want, bool log) {
  if (std::isnan(want) || std::isinf(want)) {
    ASSERT_EQ(ulp_error(actual, want), 0);
  } else {
    ASSERT_NEAR(actual, want, log ? 1e-6 + 2e-7 * std::fabs(want) : 1e-6 * want + 1e-37);
  }
}

TEST_P(SoftmaxTest, RowsOfEverySize) {
  const SoftmaxKernels& kernels = softmax_kernels(GetParam());
  for (bool log : {false, true}) {
    const auto run = log ? kernels.log_softmax : kernels.softmax;
    for (int64_t columns : {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 100, 1000}) {
      for (int64_t rows : {0, 1, 3}) {
        const int64_t in_stride = columns + 2, out_stride = columns + 1;
        const int64_t used = rows == 0 ? 0 : (rows - 1) * in_stride + columns;
        GuardedBuffer<float> in(used), out(rows == 0 ? 0 : (rows - 1) * out_stride + columns);
        fill_uniform(in, -20, 20);
        run(rows, columns, in.data(), in_stride, out.data(), out_stride);
        for (int64_t r = 0; r < rows; ++r) {
          const auto want = exact(in.data() + r * in_stride, columns, 1, log);
          for (int64_t i = 0; i < columns; ++i) expect_close(out[r * out_stride + i], want[i], log);
        }
        run(rows, columns, in.data(), in_stride, in.data(), in_stride);
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t i = 0; i < columns; ++i) {
            ASSERT_TRUE(same_bits(in[r * in_stride + i], out[r * out_stride + i]));
          }
        }
      }
    }
  }
}

TEST_P(SoftmaxTest, StridedOfEverySize) {
  const SoftmaxKernels& kernels = softmax_kernels(GetParam());
  for (bool log : {false, true}) {
    const auto run = log ? kernels.log_softmax_strided : kernels.softmax_strided;
    for (int64_t length : {0, 1, 2, 5, 40}) {
      for (int64_t inner = 0; inner <= 70; inner += inner < 35 ? 1 : 7) {
        const int64_t stride = inner + 3;
        const int64_t used = length == 0 ? 0 : (length - 1) * stride + inner;
        GuardedBuffer<float> in(used), out(used);
        fill_uniform(in, -5, 5);
        run(length, inner, stride, in.data(), out.data());
        for (int64_t j = 0; j < inner; ++j) {
          const auto want = exact(in.data() + j, length, stride, log);
          for (int64_t i = 0; i < length; ++i) expect_close(out[i * stride + j], want[i], log);
        }
        run(length, inner, stride, in.data(), in.data());
        for (int64_t j = 0; j < inner; ++j) {
          for (int64_t i = 0; i < length; ++i) {
            ASSERT_TRUE(same_bits(in[i * stride + j], out[i * stride + j]));
          }
        }
      }
    }
  }
}

TEST_P(SoftmaxTest, MasksInfinitiesAndNan) {
  const SoftmaxKernels& kernels = softmax_kernels(GetParam());
  for (int64_t n : {3, 16, 37}) {
    std::vector<float> in(static_cast<size_t>(n), -kInf), out(in.size());
    const auto both = [&](auto check) {
      kernels.softmax(1, n, in.data(), n, out.data(), n);
      check();
      kernels.softmax_strided(n, 1, 1, in.data(), out.data());
      check();
    };
    both([&] {
      for (float v : out) ASSERT_TRUE(std::isnan(v)) << "all masked";
    });
    in[1] = 3;
    both([&] {
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(out[i], i == 1 ? 1.0f : 0.0f) << "one left";
    });
    kernels.log_softmax(1, n, in.data(), n, out.data(), n);
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(out[i], i == 1 ? 0.0f : -kInf);
    for (float special : {kNan, kInf}) {
      for (int64_t at : {int64_t{0}, n - 1}) {
        std::fill(in.begin(), in.end(), 1.0f);
        in[at] = special;
        both([&] {
          // With +inf the formula is NaN at its place and 0 elsewhere over a NaN sum: all NaN.
          for (float v : out) ASSERT_TRUE(std::isnan(v)) << "special " << special;
        });
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx::kernels
