#include "kernels/reorder/reorder.h"

#include <gtest/gtest.h>

#include "kernels/blocked/blocked_test_util.h"

namespace sardonyx::kernels {
namespace {

using namespace testing;  // NOLINT

std::vector<float> to_nhwc(const std::vector<float>& nchw, int64_t batch, int64_t channels,
                           int64_t pixels) {
  std::vector<float> nhwc(nchw.size());
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t p = 0; p < pixels; ++p) {
        nhwc[(n * pixels + p) * channels + c] = nchw[(n * channels + c) * pixels + p];
      }
    }
  }
  return nhwc;
}

// Blocked data whose pad lanes hold NaN: nothing may carry them over.
std::vector<float> poison_pads(std::vector<float> blocked, int64_t channels, int64_t pixels,
                               int64_t c) {
  const int64_t blocks = block_count(channels, c);
  for (int64_t i = 0; i < static_cast<int64_t>(blocked.size()); ++i) {
    if (i / (pixels * c) % blocks * c + i % c >= channels) {
      blocked[i] = std::numeric_limits<float>::quiet_NaN();
    }
  }
  return blocked;
}

using Reorder = void (*)(const ReorderArgs&, const ReorderRange&);

std::vector<float> run(Reorder reorder, ReorderArgs args, const std::vector<float>& input,
                       int64_t size, bool at_start, bool split) {
  const GuardedFloats guarded(input, at_start);
  GuardedFloats output(size, at_start);
  args.input = guarded.data();
  args.output = output.data();
  const int64_t planes = args.batch * block_count(args.channels, args.block);
  if (!split) {
    reorder(args, {0, planes, 0, args.pixels});
  } else {
    for (int64_t plane = 0; plane < planes; ++plane) {
      const int64_t middle = args.pixels * 2 / 3;
      reorder(args, {plane, plane + 1, 0, middle});
      reorder(args, {plane, plane + 1, middle, args.pixels});
    }
  }
  return output.values();
}

class ReorderTest : public ::testing::TestWithParam<Isa> {};

TEST_P(ReorderTest, BothWaysForAnyChannels) {
  const ReorderKernels& kernels = reorder_kernels(GetParam());
  int turn = 0;
  for (int64_t channels : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 33}) {
    for (int64_t pixels : {1, 3, 4, 5, 8, 15, 70, 131}) {
      for (int block : {4, 8, 16}) {
        SCOPED_TRACE("channels " + std::to_string(channels) + " pixels " + std::to_string(pixels) +
                     " c" + std::to_string(block));
        const int64_t batch = 1 + turn++ % 2;
        const bool at_start = turn % 3 == 0, split = turn % 5 < 2;
        const auto nchw = random_floats(batch * channels * pixels, 1);
        const auto nhwc = to_nhwc(nchw, batch, channels, pixels);
        const auto blocked = to_blocked(nchw, batch, channels, pixels, block);
        const auto poisoned = poison_pads(blocked, channels, pixels, block);
        ReorderArgs args;
        args.batch = batch;
        args.channels = channels;
        args.pixels = pixels;
        args.block = block;
        const int64_t big = static_cast<int64_t>(blocked.size()), small = batch * channels * pixels;
        expect_same_bits(run(kernels.nchw_to_blocked, args, nchw, big, at_start, split), blocked,
                         "in");
        expect_same_bits(run(kernels.nhwc_to_blocked, args, nhwc, big, at_start, split), blocked,
                         "in");
        expect_same_bits(run(kernels.blocked_to_nchw, args, poisoned, small, at_start, split), nchw,
                         "out");
        expect_same_bits(run(kernels.blocked_to_nhwc, args, poisoned, small, at_start, split), nhwc,
                         "out");
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, ReorderTest, ::testing::ValuesIn(supported_isas()),
                         [](const auto& info) { return to_string(info.param); });

}  // namespace
}  // namespace sardonyx::kernels
