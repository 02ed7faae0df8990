#include "kernels/depthwise/depthwise.h"

#include <gtest/gtest.h>

#include "kernels/conv/conv_test_util.h"

namespace sardonyx::kernels {
namespace {

using namespace testing;  // NOLINT

struct Case {
  int64_t batch, channels;
  Window2d window;
};

// Every specialised loop and the general one, on maps from one pixel to past two steps, with pads
// on all sides, on one side only, and none.
std::vector<Case> cases() {
  std::vector<Case> all;
  const int64_t sizes[][2] = {{1, 1}, {2, 3}, {5, 8}, {9, 17}, {6, 27}};
  const struct {
    int64_t kh, kw, sh, sw, dh, dw;
  } kernels[] = {{3, 3, 1, 1, 1, 1}, {3, 3, 2, 2, 1, 1}, {5, 5, 1, 1, 1, 1}, {5, 5, 2, 2, 1, 1},
                 {3, 3, 2, 1, 1, 1}, {7, 7, 1, 1, 1, 1}, {3, 3, 1, 1, 2, 2}, {1, 1, 1, 1, 1, 1},
                 {2, 4, 3, 3, 1, 2}, {1, 5, 1, 1, 1, 1}};
  int64_t turn = 0;
  for (const auto& k : kernels) {
    for (const auto& size : sizes) {
      Window2d w = {size[0], size[1], 0, 0, k.kh, k.kw, k.sh, k.sw, k.dh, k.dw, 0, 0};
      const int64_t reach_h = k.dh * (k.kh - 1), reach_w = k.dw * (k.kw - 1);
      const bool fits = reach_h < w.in_h && reach_w < w.in_w;
      ++turn;
      if (turn % 3 == 0 && fits) {
        w = with_output(w, 0, 0);
      } else if (turn % 3 == 1) {
        w = with_output(w, reach_h, reach_w);
      } else {
        w.pad_top = (reach_h + 1) / 2, w.pad_left = (reach_w + 1) / 2;
        w = with_output(w, reach_h - reach_h / 2, reach_w - reach_w / 2);
      }
      all.push_back({1 + turn % 2, 1 + turn * 5 % 37, w});
    }
  }
  return all;
}

void check(const Case& c, Isa isa, int block, const Epilogue& epilogue, bool with_bias,
           bool with_residual, bool at_start) {
  const Window2d& w = c.window;
  const std::string what = std::string(to_string(isa)) + " c" + std::to_string(block) + " kernel " +
                           std::to_string(w.kernel_h) + "x" + std::to_string(w.kernel_w) +
                           " stride " + std::to_string(w.stride_w) + " map " +
                           std::to_string(w.in_h) + "x" + std::to_string(w.in_w);
  SCOPED_TRACE(what);
  const DepthwiseShape shape = {c.batch, c.channels, w};
  const int64_t in_pixels = w.in_h * w.in_w, out_pixels = w.out_h * w.out_w;
  const auto x = random_floats(c.batch * c.channels * in_pixels, 1);
  const auto k = random_floats(c.channels * w.kernel_h * w.kernel_w, 2);
  const auto bias = random_floats(with_bias ? c.channels : 0, 3);
  const auto residual = random_floats(with_residual ? c.batch * c.channels * out_pixels : 0, 4);
  const GuardedFloats input(to_blocked(x, c.batch, c.channels, in_pixels, block), at_start);
  GuardedFloats weights(packed_depthwise_weights_size(shape, block), at_start);
  pack_depthwise_weights(shape, block, k.data(), weights.data());
  GuardedFloats packed_bias(packed_depthwise_bias_size(shape, block), at_start);
  if (with_bias) pack_depthwise_bias(shape, block, bias.data(), packed_bias.data());
  GuardedFloats output(blocked_size(c.batch, c.channels, out_pixels, block), at_start);
  GuardedFloats pieces(output.size(), at_start);
  const std::vector<float> blocked_residual =
      with_residual ? to_blocked(residual, c.batch, c.channels, out_pixels, block)
                    : std::vector<float>();

  DepthwiseArgs args;
  args.shape = shape;
  args.block = block;
  args.input = input.data();
  args.weights = weights.data();
  args.bias = with_bias ? packed_bias.data() : nullptr;
  args.residual = with_residual ? blocked_residual.data() : nullptr;
  args.output = output.data();
  args.epilogue = epilogue;
  const DepthwiseKernels& kernels = depthwise_kernels(isa);
  const int64_t planes = c.batch * block_count(c.channels, block);
  kernels.run(args, {0, planes, 0, w.out_h});
  const ConvShape as_conv = {c.batch, c.channels, c.channels, c.channels, w};
  expect_near(from_blocked(output.values(), c.batch, c.channels, out_pixels, block),
              conv_oracle(as_conv, x, k, bias, residual, epilogue), 1e-5, what);

  // Row by row, in place of the residual.
  args.output = pieces.data();
  if (with_residual) {
    std::copy(blocked_residual.begin(), blocked_residual.end(), pieces.data());
    args.residual = pieces.data();
  }
  for (int64_t y = 0; y < w.out_h; ++y) {
    kernels.run(args, {0, planes / 2, y, y + 1});
    kernels.run(args, {planes / 2, planes, y, y + 1});
  }
  expect_same_bits(pieces.values(), output.values(), what + " in pieces");
}

class DepthwiseTest : public ::testing::TestWithParam<Isa> {};

TEST_P(DepthwiseTest, MatchesOracle) {
  const auto epilogues = sample_epilogues();
  size_t turn = 0;
  for (const Case& c : cases()) {
    for (int block : {4, 8, 16}) {
      ++turn;
      check(c, GetParam(), block, epilogues[turn % epilogues.size()], turn % 4 != 0, turn % 3 == 0,
            turn % 2 == 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, DepthwiseTest, ::testing::ValuesIn(supported_isas()),
                         [](const auto& info) { return to_string(info.param); });

}  // namespace
}  // namespace sardonyx::kernels
