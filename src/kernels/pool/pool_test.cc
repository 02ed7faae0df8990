#include "kernels/pool/pool.h"

#include <gtest/gtest.h>
#include <algorithm>

#include "kernels/conv/conv_test_util.h"

namespace sardonyx::kernels {
namespace {

using namespace testing;  // NOLINT

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Case {
  int64_t batch, channels;
  Window2d window;
  int64_t pad_bottom, pad_right;
};

std::vector<Case> cases() {
  std::vector<Case> all = {
      {1, 16, {7, 9, 0, 0, 3, 3, 2, 2, 1, 1, 1, 1}, 1, 1},
      {2, 11, {8, 8, 0, 0, 2, 2, 2, 2, 1, 1, 0, 0}, 0, 0},
      {1, 5, {6, 5, 0, 0, 3, 2, 1, 1, 2, 3, 1, 2}, 2, 1},
      {1, 21, {1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0}, 0, 0},
      {1, 8, {5, 6, 0, 0, 5, 5, 1, 1, 1, 1, 2, 2}, 2, 2},
      {1, 4, {4, 7, 0, 0, 1, 3, 1, 3, 1, 1, 0, 2}, 0, 0},
  };
  for (Case& c : all) c.window = with_output(c.window, c.pad_bottom, c.pad_right);
  // ceil_mode: a last row and column of windows that begin inside and reach beyond the padded
  // input.
  Case ceil = {1, 10, {6, 6, 0, 0, 3, 3, 2, 2, 1, 1, 1, 1}, 1, 1};
  ceil.window.out_h = ceil.window.out_w = 4;
  all.push_back(ceil);
  // Windows without a cell, in the middle of wide pads.
  Case empty = {1, 6, {2, 2, 0, 0, 2, 2, 2, 2, 1, 1, 2, 2}, 2, 2};
  empty.window.out_h = empty.window.out_w = 3;
  all.push_back(empty);
  return all;
}

enum class Kind { kMax, kAverage, kAverageWithPads };

std::vector<float> oracle(const Case& c, const std::vector<float>& x, Kind kind) {
  const Window2d& w = c.window;
  std::vector<float> result;
  for (int64_t plane = 0; plane < c.batch * c.channels; ++plane) {
    for (int64_t oy = 0; oy < w.out_h; ++oy) {
      for (int64_t ox = 0; ox < w.out_w; ++ox) {
        double sum = 0;
        float largest = -kInf;
        int count = 0;
        for (int64_t ky = 0; ky < w.kernel_h; ++ky) {
          for (int64_t kx = 0; kx < w.kernel_w; ++kx) {
            const int64_t y = oy * w.stride_h + ky * w.dilation_h - w.pad_top;
            const int64_t px = ox * w.stride_w + kx * w.dilation_w - w.pad_left;
            const bool inside = y >= 0 && px >= 0 && y < w.in_h && px < w.in_w;
            const bool padded = y < w.in_h + c.pad_bottom && px < w.in_w + c.pad_right;
            count += inside || (kind == Kind::kAverageWithPads && padded);
            if (!inside) continue;
            const float v = x[(plane * w.in_h + y) * w.in_w + px];
            sum += v;
            largest = std::isnan(largest) || std::isnan(v) ? kNan : std::max(largest, v);
          }
        }
        result.push_back(kind == Kind::kMax ? largest
                                            : static_cast<float>(sum / std::max(count, 1)));
      }
    }
  }
  return result;
}

void expect_close(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i]) || std::isinf(expected[i])) {
      ASSERT_EQ(std::isnan(actual[i]), std::isnan(expected[i])) << i;
      if (std::isinf(expected[i])) {
        ASSERT_EQ(actual[i], expected[i]) << i;
      }
    } else {
      ASSERT_NEAR(actual[i], expected[i], 1e-6) << i;
    }
  }
}

class PoolTest : public ::testing::TestWithParam<Isa> {};

TEST_P(PoolTest, MatchesOracle) {
  const PoolKernels& kernels = pool_kernels(GetParam());
  for (const Case& c : cases()) {
    const Window2d& w = c.window;
    for (int block : {4, 8, 16}) {
      for (Kind kind : {Kind::kMax, Kind::kAverage, Kind::kAverageWithPads}) {
        SCOPED_TRACE("channels " + std::to_string(c.channels) + " c" + std::to_string(block) +
                     " kind " + std::to_string(static_cast<int>(kind)));
        auto x = random_floats(c.batch * c.channels * w.in_h * w.in_w, 1);
        x[x.size() / 2] = kNan;
        x[x.size() / 3] = -kInf;
        const GuardedFloats input(to_blocked(x, c.batch, c.channels, w.in_h * w.in_w, block));
        GuardedFloats output(blocked_size(c.batch, c.channels, w.out_h * w.out_w, block));
        PoolArgs args;
        args.batch = c.batch;
        args.channels = c.channels;
        args.window = w;
        args.pad_bottom = c.pad_bottom;
        args.pad_right = c.pad_right;
        args.count_include_pad = kind == Kind::kAverageWithPads;
        args.block = block;
        args.input = input.data();
        args.output = output.data();
        const auto run = kind == Kind::kMax ? kernels.max : kernels.average;
        const int64_t planes = c.batch * block_count(c.channels, block);
        for (int64_t y = 0; y < w.out_h; ++y) run(args, {0, planes, y, y + 1});
        expect_close(from_blocked(output.values(), c.batch, c.channels, w.out_h * w.out_w, block),
                     oracle(c, x, kind));
      }
    }
  }
}

TEST_P(PoolTest, Global) {
  const PoolKernels& kernels = pool_kernels(GetParam());
  for (int64_t pixels : {1, 3, 4, 5, 49, 130}) {
    for (int block : {4, 8, 16}) {
      const int64_t batch = 2, channels = 19;
      const auto x = random_floats(batch * channels * pixels, 1);
      const GuardedFloats input(to_blocked(x, batch, channels, pixels, block));
      GuardedFloats output(blocked_size(batch, channels, 1, block));
      GlobalPoolArgs args = {batch, channels, pixels, block, input.data(), output.data()};
      std::vector<float> sums, largest;
      for (int64_t i = 0; i < batch * channels; ++i) {
        double sum = 0;
        float m = -kInf;
        for (int64_t p = 0; p < pixels; ++p) {
          sum += x[i * pixels + p];
          m = std::max(m, x[i * pixels + p]);
        }
        sums.push_back(static_cast<float>(sum / static_cast<double>(pixels)));
        largest.push_back(m);
      }
      const int64_t planes = batch * block_count(channels, block);
      kernels.global_average(args, 0, planes);
      expect_close(from_blocked(output.values(), batch, channels, 1, block), sums);
      kernels.global_max(args, 0, 1);
      kernels.global_max(args, 1, planes);
      expect_close(from_blocked(output.values(), batch, channels, 1, block), largest);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, PoolTest, ::testing::ValuesIn(supported_isas()),
                         [](const auto& info) { return to_string(info.param); });

}  // namespace
}  // namespace sardonyx::kernels
