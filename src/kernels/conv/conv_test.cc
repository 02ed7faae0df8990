#include "kernels/conv/conv.h"

#include <gtest/gtest.h>

#include "kernels/conv/conv_test_util.h"

namespace sardonyx::kernels {
namespace {

using namespace testing;  // NOLINT

struct Case {
  const char* name;
  int64_t batch, in_channels, out_channels, groups;
  Window2d window;  // out_h and out_w are filled in
  int64_t pad_bottom = 0, pad_right = 0;
};

Window2d window(int64_t h, int64_t w, int64_t kh, int64_t kw, int64_t sh, int64_t sw, int64_t dh,
                int64_t dw, int64_t top, int64_t left) {
  return {h, w, 0, 0, kh, kw, sh, sw, dh, dw, top, left};
}

std::vector<Case> cases() {
  std::vector<Case> all = {
      {"1x1", 1, 16, 32, 1, window(7, 5, 1, 1, 1, 1, 1, 1, 0, 0)},
      {"1x1 tails", 2, 13, 29, 1, window(5, 9, 1, 1, 1, 1, 1, 1, 0, 0)},
      {"1x1 on one pixel", 3, 40, 10, 1, window(1, 1, 1, 1, 1, 1, 1, 1, 0, 0)},
      {"1x1 stride 2", 1, 9, 72, 1, window(7, 6, 1, 1, 2, 2, 1, 1, 0, 0)},
      {"3x3", 1, 16, 16, 1, window(9, 11, 3, 3, 1, 1, 1, 1, 1, 1), 1, 1},
      {"3x3 stride 2 uneven pads", 2, 11, 21, 1, window(8, 10, 3, 3, 2, 2, 1, 1, 0, 0), 1, 1},
      {"3x3 dilated", 1, 8, 40, 1, window(10, 9, 3, 3, 1, 1, 2, 3, 2, 3), 2, 3},
      {"5x3 wide pads", 1, 5, 7, 1, window(4, 3, 5, 3, 1, 2, 1, 1, 4, 2), 3, 1},
      {"3x3 on one pixel", 2, 17, 8, 1, window(1, 1, 3, 3, 1, 1, 1, 1, 1, 1), 1, 1},
      {"1x7", 1, 10, 24, 1, window(3, 17, 1, 7, 1, 1, 1, 1, 0, 3), 0, 3},
      {"stride beyond kernel", 1, 8, 9, 1, window(11, 13, 2, 2, 3, 4, 1, 1, 0, 0)},
      {"patches 4x4", 1, 3, 32, 1, window(12, 8, 4, 4, 4, 4, 1, 1, 0, 0)},
      {"two groups", 2, 32, 64, 2, window(6, 5, 3, 3, 1, 1, 1, 1, 1, 1), 1, 1},
      {"three groups", 1, 48, 48, 3, window(5, 5, 1, 1, 1, 1, 1, 1, 0, 0)},
      {"large kernel", 1, 2, 5, 1, window(20, 20, 17, 19, 1, 1, 1, 1, 8, 9), 8, 9},
      {"first layer", 2, 3, 16, 1, window(13, 15, 3, 3, 2, 2, 1, 1, 1, 1), 1, 1},
      {"first layer 7x7", 1, 3, 24, 1, window(15, 14, 7, 7, 2, 2, 1, 1, 3, 3), 2, 3},
  };
  for (Case& c : all) c.window = with_output(c.window, c.pad_bottom, c.pad_right);
  return all;
}

std::vector<float> packed_weights(const ConvShape& shape, const ConvTile& tile,
                                  const std::vector<float>& oihw) {
  std::vector<float> packed(packed_conv_weights_size(shape, tile));
  pack_conv_weights(shape, tile, oihw.data(), packed.data());
  return packed;
}

void check(const Case& c, Isa isa, const ConvTile& tile, const Epilogue& epilogue, bool with_bias,
           bool with_residual, bool at_start) {
  const Window2d& w = c.window;
  const ConvShape shape = {c.batch, c.in_channels, c.out_channels, c.groups, w};
  if (!conv_supported(shape, tile)) return;
  const std::string what = std::string(c.name) + " " + to_string(isa) + " c" +
                           std::to_string(tile.block) + " panel " +
                           std::to_string(tile.panel_blocks) + (tile.plain_input ? " plain" : "") +
                           " activation " + std::to_string(static_cast<int>(epilogue.activation));
  SCOPED_TRACE(what);
  const int64_t in_pixels = w.in_h * w.in_w, out_pixels = w.out_h * w.out_w;
  const int64_t taps = w.kernel_h * w.kernel_w;
  const auto x = random_floats(c.batch * c.in_channels * in_pixels, 1);
  const auto k = random_floats(c.out_channels * (c.in_channels / c.groups) * taps, 2);
  const auto bias = random_floats(with_bias ? c.out_channels : 0, 3);
  const auto residual = random_floats(with_residual ? c.batch * c.out_channels * out_pixels : 0, 4);

  const GuardedFloats input(
      tile.plain_input ? x : to_blocked(x, c.batch, c.in_channels, in_pixels, tile.block),
      at_start);
  const GuardedFloats weights(packed_weights(shape, tile, k), at_start);
  GuardedFloats packed_bias(packed_conv_bias_size(shape, tile), at_start);
  if (with_bias) pack_conv_bias(shape, tile, bias.data(), packed_bias.data());
  const GuardedFloats blocked_residual(
      with_residual ? to_blocked(residual, c.batch, c.out_channels, out_pixels, tile.block)
                    : std::vector<float>(),
      at_start);
  GuardedFloats output(blocked_size(c.batch, c.out_channels, out_pixels, tile.block), at_start);

  ConvArgs args;
  args.shape = shape;
  args.tile = tile;
  args.input = input.data();
  args.weights = weights.data();
  args.bias = with_bias ? packed_bias.data() : nullptr;
  args.residual = with_residual ? blocked_residual.data() : nullptr;
  args.output = output.data();
  args.epilogue = epilogue;
  const ConvKernels& kernels = conv_kernels(isa);
  const ConvRange full = conv_full_range(shape, tile);
  kernels.run(args, full);
  const std::vector<float> whole = output.values();
  expect_near(from_blocked(whole, c.batch, c.out_channels, out_pixels, tile.block),
              conv_oracle(shape, x, k, bias, residual, epilogue),
              2e-6 * std::sqrt(double(c.in_channels * taps)) + 2e-6, what);

  // The same in uneven pieces of every range, and in place of the residual.
  GuardedFloats pieces(output.size(), at_start);
  args.output = pieces.data();
  if (with_residual) {
    std::copy_n(blocked_residual.data(), output.size(), pieces.data());
    args.residual = pieces.data();
  }
  for (int64_t n = 0; n < c.batch; ++n) {
    for (int64_t panel = 0; panel < full.panel_end; panel += 2) {
      for (int64_t p = 0; p < out_pixels;) {
        const int64_t next = std::min(p + 1 + p % 7 * 3, out_pixels);
        kernels.run(args, {n, n + 1, p, next, panel, std::min(panel + 2, full.panel_end)});
        p = next;
      }
    }
  }
  expect_same_bits(pieces.values(), whole, what + " in pieces");
}

class ConvTest : public ::testing::TestWithParam<Isa> {};

TEST_P(ConvTest, MatchesOracle) {
  const auto epilogues = sample_epilogues();
  size_t turn = 0;
  for (const Case& c : cases()) {
    for (int block : {4, 8, 16}) {
      for (int panel = 1; panel <= kMaxPanelBlocks; ++panel) {
        for (bool plain : {false, true}) {
          const Epilogue& e = epilogues[turn++ % epilogues.size()];
          check(c, GetParam(), {block, panel, plain}, e, turn % 3 != 0, turn % 2 == 0,
                turn % 5 < 2);
        }
      }
    }
  }
}

TEST_P(ConvTest, AppliesEveryEpilogue) {
  const Case c = cases()[1];
  for (int block : {8, 16}) {
    for (const Epilogue& e : sample_epilogues()) {
      for (bool residual : {false, true})
        check(c, GetParam(), {block, 2, false}, e, true, residual, false);
    }
  }
}

TEST_P(ConvTest, NeverReadsPadLanesOfInputs) {
  const Case c = cases()[1];
  const ConvTile tile = {8, 2, false};
  const ConvShape shape = {c.batch, c.in_channels, c.out_channels, c.groups, c.window};
  const int64_t pixels = c.window.in_h * c.window.in_w;
  const auto weights =
      packed_weights(shape, tile, random_floats(c.in_channels * c.out_channels, 2));
  std::vector<float> x = to_blocked(random_floats(c.batch * c.in_channels * pixels, 1), c.batch,
                                    c.in_channels, pixels, tile.block);
  std::vector<float> clean(blocked_size(c.batch, c.out_channels, pixels, tile.block)),
      poisoned = clean;
  ConvArgs args;
  args.shape = shape;
  args.tile = tile;
  args.input = x.data();
  args.weights = weights.data();
  args.output = clean.data();
  conv_kernels(GetParam()).run(args, conv_full_range(shape, tile));
  const int64_t blocks = block_count(c.in_channels, tile.block);
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    const int64_t channel = i / (pixels * tile.block) % blocks * tile.block + i % tile.block;
    if (channel >= c.in_channels) x[i] = std::numeric_limits<float>::quiet_NaN();
  }
  args.output = poisoned.data();
  conv_kernels(GetParam()).run(args, conv_full_range(shape, tile));
  expect_same_bits(poisoned, clean, "poisoned pad lanes");
}

INSTANTIATE_TEST_SUITE_P(Isas, ConvTest, ::testing::ValuesIn(supported_isas()),
                         [](const auto& info) { return to_string(info.param); });

TEST(ConvSupported, NeedsWholeBlocksInGroups) {
  ConvShape shape = {1, 32, 32, 2, {}};
  EXPECT_TRUE(conv_supported(shape, {16, 2, false}));
  EXPECT_FALSE(conv_supported(shape, {16, 2, true}));
  shape.groups = 4;
  EXPECT_TRUE(conv_supported(shape, {8, 2, false}));
  EXPECT_FALSE(conv_supported(shape, {16, 2, false}));
  EXPECT_FALSE(conv_supported(shape, {12, 2, false}));
  EXPECT_FALSE(conv_supported(shape, {8, 5, false}));
}

}  // namespace
}  // namespace sardonyx::kernels
