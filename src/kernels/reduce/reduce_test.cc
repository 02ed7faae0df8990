#include "kernels/reduce/reduce.h"

#include <algorithm>

#include "kernels/test_util.h"

namespace sardonyx::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int kOps = static_cast<int>(ReduceOp::kCount);

class ReduceTest : public EachIsa {};
SDX_TEST_EACH_ISA(ReduceTest);

double exact(ReduceOp op, const std::vector<float>& values) {
  double sum = 0, product = 1, square = 0, l1 = 0, max = -kInf, min = kInf, exps = 0;
  bool nan = false;
  for (float value : values) {
    const double x = value;
    sum += x, product *= x, square += x * x, l1 += std::fabs(x), exps += std::exp(x);
    max = std::max(max, x), min = std::min(min, x);
    nan = nan || std::isnan(x);
  }
  switch (op) {
    case ReduceOp::kSum:
      return sum;
    case ReduceOp::kMean:
      return sum / static_cast<double>(values.size());
    case ReduceOp::kMax:
      return nan ? kNan : max;
    case ReduceOp::kMin:
      return nan ? kNan : min;
    case ReduceOp::kProd:
      return product;
    case ReduceOp::kSumSquare:
      return square;
    case ReduceOp::kL1:
      return l1;
    case ReduceOp::kL2:
      return std::sqrt(square);
    case ReduceOp::kLogSum:
      return std::log(sum);
    default:
      return std::log(exps);
  }
}

// Runs one dense view and checks every output.
void check(const ReduceKernels& kernels, ReduceOp op, GuardedBuffer<float>& in, int64_t outer,
           int64_t reduced, int64_t inner) {
  SCOPED_TRACE(testing::Message() << "op " << static_cast<int>(op) << " view " << outer << " "
                                  << reduced << " " << inner);
  GuardedBuffer<float> out(outer * inner);
  kernels[op](dense_reduce(in.data(), outer, reduced, inner, out.data()));
  std::vector<float> values(static_cast<size_t>(reduced));
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      for (int64_t r = 0; r < reduced; ++r) values[r] = in[(o * reduced + r) * inner + i];
      const double want = exact(op, values);
      const float got = out[o * inner + i];
      if (std::isfinite(want)) {
        ASSERT_NEAR(got, want, 2e-6 * std::fmax(1, std::fabs(want))) << o << " " << i;
      } else {
        ASSERT_EQ(ulp_error(got, want), 0) << o << " " << i << " got " << got << " not " << want;
      }
    }
  }
}

TEST_P(ReduceTest, EveryOpAndView) {
  const ReduceKernels& kernels = reduce_kernels(GetParam());
  for (int op = 0; op < kOps; ++op) {
    for (int64_t reduced : {0, 1, 2, 3, 7, 8, 16, 17, 33, 65, 150, 300}) {
      for (int64_t inner : {0, 1, 2, 5, 8, 15, 16, 17, 31, 64, 70}) {
        for (int64_t outer : {0, 1, 2}) {
          GuardedBuffer<float> in(outer * reduced * inner);
          fill_uniform(in, op == static_cast<int>(ReduceOp::kProd) ? 0.99f : 0.1f, 1.01f);
          ASSERT_NO_FATAL_FAILURE(
              check(kernels, static_cast<ReduceOp>(op), in, outer, reduced, inner));
        }
      }
    }
  }
}

TEST_P(ReduceTest, NanAndInfinityAtEveryPlace) {
  const ReduceKernels& kernels = reduce_kernels(GetParam());
  for (int op = 0; op < kOps; ++op) {
    for (float special : {kNan, kInf, -kInf}) {
      for (int64_t inner : {1, 3, 20}) {
        for (int64_t at = 0; at < 70; at += at < 20 ? 1 : 7) {
          GuardedBuffer<float> in(70 * inner);
          for (float& value : in) value = 1.0f;
          in[at * inner] = special;
          ASSERT_NO_FATAL_FAILURE(check(kernels, static_cast<ReduceOp>(op), in, 1, 70, inner));
        }
      }
    }
  }
  GuardedBuffer<float> masked(40);
  for (float& value : masked) value = -kInf;
  check(kernels, ReduceOp::kLogSumExp, masked, 1, 40, 1);
  check(kernels, ReduceOp::kLogSumExp, masked, 1, 2, 20);
}

TEST_P(ReduceTest, LongSumsStayAccurate) {
  const ReduceKernels& kernels = reduce_kernels(GetParam());
  for (int64_t inner : {1, 2}) {
    GuardedBuffer<float> in(1000000 * inner), out(inner);
    fill_uniform(in, 0, 1);
    double want = 0;
    for (int64_t i = 0; i < 1000000; ++i) want += in[i * inner];
    kernels[ReduceOp::kSum](dense_reduce(in.data(), 1, 1000000, inner, out.data()));
    EXPECT_NEAR(out[0], want, 1e-5 * want);
  }
}

TEST_P(ReduceTest, StridedRowsAndSplitColumns) {
  const ReduceKernels& kernels = reduce_kernels(GetParam());
  GuardedBuffer<float> in(12 * 50), whole(50), part(50);
  fill_uniform(in, -1, 1);
  for (ReduceOp op : {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kLogSumExp}) {
    ReduceArgs args = dense_reduce(in.data(), 1, 12, 50, whole.data());
    kernels[op](args);
    for (int64_t begin = 0; begin < 50;) {
      const int64_t end = std::min<int64_t>(50, begin + 1 + begin % 5 * 4);
      ReduceArgs piece = args;
      piece.in = in.data() + begin, piece.inner = end - begin, piece.out = part.data() + begin;
      kernels[op](piece);
      begin = end;
    }
    for (int64_t i = 0; i < 50; ++i) ASSERT_TRUE(same_bits(whole[i], part[i])) << i;
  }
}

}  // namespace
}  // namespace sardonyx::kernels
