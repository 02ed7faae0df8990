#include "kernels/resize/resize.h"

#include <gtest/gtest.h>

#include "kernels/blocked/blocked_test_util.h"

namespace sardonyx::kernels {
namespace {

using namespace testing;  // NOLINT

constexpr int64_t kBatch = 2, kChannels = 13;

std::vector<int32_t> random_indices(int64_t count, int64_t limit, uint32_t seed) {
  std::minstd_rand engine(seed + 1);
  std::vector<int32_t> result;
  for (int64_t i = 0; i < count; ++i) {
    result.push_back(static_cast<int32_t>(engine() % static_cast<uint32_t>(limit)));
  }
  return result;
}

class ResizeTest : public ::testing::TestWithParam<Isa> {};

TEST_P(ResizeTest, Nearest) {
  const ResizeKernels& kernels = resize_kernels(GetParam());
  for (int block : {4, 8, 16}) {
    const ResizeShape s = {kBatch * block_count(kChannels, block), 5, 3, 11, 7, block};
    auto row = random_indices(s.out_h, s.in_h, 1);
    row[4] = row[3] = row[2];
    const auto column = random_indices(s.out_w, s.in_w, 2);
    const auto x = random_floats(kBatch * kChannels * s.in_h * s.in_w, 3);
    const GuardedFloats input(to_blocked(x, kBatch, kChannels, s.in_h * s.in_w, block));
    GuardedFloats output(blocked_size(kBatch, kChannels, s.out_h * s.out_w, block));
    const ResizeNearestArgs args = {s, row.data(), column.data(), input.data(), output.data()};
    kernels.nearest(args, {0, s.planes, 0, 4});
    kernels.nearest(args, {0, s.planes, 4, s.out_h});
    std::vector<double> expected;
    for (int64_t plane = 0; plane < kBatch * kChannels; ++plane) {
      for (int64_t y = 0; y < s.out_h; ++y) {
        for (int64_t c = 0; c < s.out_w; ++c) {
          expected.push_back(x[(plane * s.in_h + row[y]) * s.in_w + column[c]]);
        }
      }
    }
    expect_near(from_blocked(output.values(), kBatch, kChannels, s.out_h * s.out_w, block),
                expected, 0, "nearest");
  }
}

TEST_P(ResizeTest, Linear) {
  const ResizeKernels& kernels = resize_kernels(GetParam());
  for (int block : {4, 8, 16}) {
    const ResizeShape s = {kBatch * block_count(kChannels, block), 4, 6, 9, 5, block};
    const auto y0 = random_indices(s.out_h, s.in_h, 1), y1 = random_indices(s.out_h, s.in_h, 2);
    const auto x0 = random_indices(s.out_w, s.in_w, 3), x1 = random_indices(s.out_w, s.in_w, 4);
    const auto wy0 = random_floats(s.out_h, 5), wy1 = random_floats(s.out_h, 6);
    const auto wx0 = random_floats(s.out_w, 7), wx1 = random_floats(s.out_w, 8);
    const auto x = random_floats(kBatch * kChannels * s.in_h * s.in_w, 9);
    const GuardedFloats input(to_blocked(x, kBatch, kChannels, s.in_h * s.in_w, block));
    GuardedFloats output(blocked_size(kBatch, kChannels, s.out_h * s.out_w, block));
    const ResizeLinearArgs args = {s,
                                   {y0.data(), y1.data(), wy0.data(), wy1.data()},
                                   {x0.data(), x1.data(), wx0.data(), wx1.data()},
                                   input.data(),
                                   output.data()};
    for (int64_t y = 0; y < s.out_h; ++y) kernels.linear(args, {0, s.planes, y, y + 1});
    std::vector<double> expected;
    for (int64_t plane = 0; plane < kBatch * kChannels; ++plane) {
      const auto at = [&](int64_t y, int64_t c) {
        return double{x[(plane * s.in_h + y) * s.in_w + c]};
      };
      for (int64_t y = 0; y < s.out_h; ++y) {
        for (int64_t c = 0; c < s.out_w; ++c) {
          expected.push_back(wy0[y] * (wx0[c] * at(y0[y], x0[c]) + wx1[c] * at(y0[y], x1[c])) +
                             wy1[y] * (wx0[c] * at(y1[y], x0[c]) + wx1[c] * at(y1[y], x1[c])));
        }
      }
    }
    expect_near(from_blocked(output.values(), kBatch, kChannels, s.out_h * s.out_w, block),
                expected, 1e-6, "linear");
  }
}

TEST_P(ResizeTest, UpsampleByWholeFactors) {
  const ResizeKernels& kernels = resize_kernels(GetParam());
  for (int block : {4, 8, 16}) {
    for (int64_t factor_h : {1, 2, 3, 4}) {
      for (int64_t factor_w : {1, 2, 3}) {
        const ResizeShape s = {
            kBatch * block_count(kChannels, block), 3, 5, 3 * factor_h, 5 * factor_w, block};
        const auto x = random_floats(kBatch * kChannels * s.in_h * s.in_w, 9);
        const GuardedFloats input(to_blocked(x, kBatch, kChannels, s.in_h * s.in_w, block));
        GuardedFloats output(blocked_size(kBatch, kChannels, s.out_h * s.out_w, block));
        const UpsampleArgs args = {s, factor_h, factor_w, input.data(), output.data()};
        const int64_t split = s.out_h / 2 + 1;
        kernels.upsample(args, {0, s.planes, 0, split});
        kernels.upsample(args, {0, s.planes, split, s.out_h});
        std::vector<double> expected;
        for (int64_t plane = 0; plane < kBatch * kChannels; ++plane) {
          for (int64_t y = 0; y < s.out_h; ++y) {
            for (int64_t c = 0; c < s.out_w; ++c) {
              expected.push_back(x[(plane * s.in_h + y / factor_h) * s.in_w + c / factor_w]);
            }
          }
        }
        expect_near(from_blocked(output.values(), kBatch, kChannels, s.out_h * s.out_w, block),
                    expected, 0, "upsample");
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, ResizeTest, ::testing::ValuesIn(supported_isas()),
                         [](const auto& info) { return to_string(info.param); });

}  // namespace
}  // namespace sardonyx::kernels
