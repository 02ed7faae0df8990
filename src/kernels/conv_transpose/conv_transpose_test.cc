#include "kernels/conv_transpose/conv_transpose.h"

#include <gtest/gtest.h>

#include "kernels/blocked/blocked_test_util.h"

namespace sardonyx::kernels {
namespace {

using namespace testing;  // NOLINT

struct Case {
  const char* name;
  int64_t batch, in_channels, out_channels, groups;
  Window2d window;                                                  // out_h and out_w are filled in
  int64_t pad_bottom = 0, pad_right = 0, extra_h = 0, extra_w = 0;  // extra: output_padding
};

std::vector<Case> cases() {
  std::vector<Case> all = {
      {"2x2 stride 2", 1, 24, 24, 1, {5, 7, 0, 0, 2, 2, 2, 2}},
      {"2x2 stride 2 to one channel", 2, 24, 1, 1, {6, 4, 0, 0, 2, 2, 2, 2}},
      {"3x3 stride 2 output padding",
       2,
       9,
       20,
       1,
       {4, 5, 0, 0, 3, 3, 2, 2, 1, 1, 1, 1},
       1,
       1,
       1,
       1},
      {"4x4 stride 2", 1, 16, 16, 1, {3, 5, 0, 0, 4, 4, 2, 2, 1, 1, 1, 1}, 1, 1},
      {"3x3 stride 1", 1, 5, 33, 1, {6, 5, 0, 0, 3, 3, 1, 1, 1, 1, 1, 1}, 1, 1},
      {"1x1", 1, 8, 8, 1, {3, 3, 0, 0, 1, 1, 1, 1}},
      {"stride beyond kernel", 1, 8, 11, 1, {3, 4, 0, 0, 2, 1, 3, 4}},
      {"dilated", 1, 6, 8, 1, {5, 4, 0, 0, 3, 2, 2, 3, 2, 2, 2, 1}, 0, 1},
      {"uneven pads", 1, 7, 8, 1, {5, 6, 0, 0, 5, 4, 2, 3, 1, 1, 4, 0}, 0, 3},
      {"groups", 2, 32, 64, 2, {3, 4, 0, 0, 2, 2, 2, 2}},
      {"one pixel", 1, 10, 10, 1, {1, 1, 0, 0, 4, 4, 4, 4}},
  };
  for (Case& c : all) {
    Window2d& w = c.window;
    w.out_h = (w.in_h - 1) * w.stride_h + w.dilation_h * (w.kernel_h - 1) + 1 - w.pad_top -
              c.pad_bottom + c.extra_h;
    w.out_w = (w.in_w - 1) * w.stride_w + w.dilation_w * (w.kernel_w - 1) + 1 - w.pad_left -
              c.pad_right + c.extra_w;
  }
  return all;
}

// Scatter form, in double, on plain tensors.
std::vector<double> oracle(const Case& c, const std::vector<float>& x, const std::vector<float>& k,
                           const std::vector<float>& bias, const std::vector<float>& residual,
                           const Epilogue& epilogue) {
  const Window2d& w = c.window;
  const int64_t gi = c.in_channels / c.groups, go = c.out_channels / c.groups;
  std::vector<double> y(c.batch * c.out_channels * w.out_h * w.out_w, 0.0);
  for (int64_t n = 0; n < c.batch; ++n) {
    for (int64_t i = 0; i < c.in_channels; ++i) {
      for (int64_t ih = 0; ih < w.in_h; ++ih) {
        for (int64_t iw = 0; iw < w.in_w; ++iw) {
          const double v = x[((n * c.in_channels + i) * w.in_h + ih) * w.in_w + iw];
          for (int64_t o = 0; o < go; ++o) {
            for (int64_t kh = 0; kh < w.kernel_h; ++kh) {
              for (int64_t kw = 0; kw < w.kernel_w; ++kw) {
                const int64_t oh = ih * w.stride_h + kh * w.dilation_h - w.pad_top;
                const int64_t ow = iw * w.stride_w + kw * w.dilation_w - w.pad_left;
                if (oh < 0 || ow < 0 || oh >= w.out_h || ow >= w.out_w) continue;
                const int64_t channel = i / gi * go + o;
                y[((n * c.out_channels + channel) * w.out_h + oh) * w.out_w + ow] +=
                    v * double{k[((i * go + o) * w.kernel_h + kh) * w.kernel_w + kw]};
              }
            }
          }
        }
      }
    }
  }
  const int64_t pixels = w.out_h * w.out_w;
  for (size_t e = 0; e < y.size(); ++e) {
    if (!bias.empty()) y[e] += bias[e / pixels % c.out_channels];
    if (!residual.empty()) y[e] += residual[e];
    y[e] = activate(epilogue, y[e]);
  }
  return y;
}

void check(const Case& c, Isa isa, const ConvTile& tile, const Epilogue& epilogue, bool with_bias,
           bool with_residual, bool at_start) {
  const Window2d& w = c.window;
  const ConvShape shape = {c.batch, c.in_channels, c.out_channels, c.groups, w};
  if (!conv_transpose_supported(shape, tile)) return;
  const std::string what = std::string(c.name) + " " + to_string(isa) + " c" +
                           std::to_string(tile.block) + " panel " +
                           std::to_string(tile.panel_blocks);
  SCOPED_TRACE(what);
  const int64_t in_pixels = w.in_h * w.in_w, out_pixels = w.out_h * w.out_w;
  const int64_t taps = w.kernel_h * w.kernel_w;
  const auto x = random_floats(c.batch * c.in_channels * in_pixels, 1);
  const auto k = random_floats(c.in_channels * (c.out_channels / c.groups) * taps, 2);
  const auto bias = random_floats(with_bias ? c.out_channels : 0, 3);
  const auto residual = random_floats(with_residual ? c.batch * c.out_channels * out_pixels : 0, 4);
  const GuardedFloats input(to_blocked(x, c.batch, c.in_channels, in_pixels, tile.block), at_start);
  GuardedFloats weights(packed_conv_transpose_weights_size(shape, tile), at_start);
  pack_conv_transpose_weights(shape, tile, k.data(), weights.data());
  GuardedFloats packed_bias(packed_conv_bias_size(shape, tile), at_start);
  if (with_bias) pack_conv_bias(shape, tile, bias.data(), packed_bias.data());
  const std::vector<float> blocked_residual =
      with_residual ? to_blocked(residual, c.batch, c.out_channels, out_pixels, tile.block)
                    : std::vector<float>();
  GuardedFloats output(blocked_size(c.batch, c.out_channels, out_pixels, tile.block), at_start);
  GuardedFloats pieces(output.size(), at_start);

  ConvArgs args;
  args.shape = shape;
  args.tile = tile;
  args.input = input.data();
  args.weights = weights.data();
  args.bias = with_bias ? packed_bias.data() : nullptr;
  args.residual = with_residual ? blocked_residual.data() : nullptr;
  args.output = output.data();
  args.epilogue = epilogue;
  const ConvTransposeKernels& kernels = conv_transpose_kernels(isa);
  const ConvTransposeRange full = conv_transpose_full_range(shape, tile);
  kernels.run(args, full);
  expect_near(from_blocked(output.values(), c.batch, c.out_channels, out_pixels, tile.block),
              oracle(c, x, k, bias, residual, epilogue), 2e-5, what);

  args.output = pieces.data();
  for (int64_t n = 0; n < c.batch; ++n) {
    for (int64_t panel = 0; panel < full.panel_end; ++panel) {
      for (int64_t y = 0; y < w.out_h;) {
        const int64_t next = std::min(y + 1 + y % 3, w.out_h);
        kernels.run(args, {n, n + 1, y, next, panel, panel + 1});
        y = next;
      }
    }
  }
  expect_same_bits(pieces.values(), output.values(), what + " in pieces");
}

class ConvTransposeTest : public ::testing::TestWithParam<Isa> {};

TEST_P(ConvTransposeTest, MatchesOracle) {
  const auto epilogues = sample_epilogues();
  size_t turn = 0;
  for (const Case& c : cases()) {
    for (int block : {4, 8, 16}) {
      for (int panel = 1; panel <= kMaxPanelBlocks; ++panel) {
        const Epilogue& e = epilogues[turn++ % epilogues.size()];
        check(c, GetParam(), {block, panel, false}, e, turn % 3 != 0, turn % 2 == 0, turn % 5 < 2);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, ConvTransposeTest, ::testing::ValuesIn(supported_isas()),
                         [](const auto& info) { return to_string(info.param); });

}  // namespace
}  // namespace sardonyx::kernels
