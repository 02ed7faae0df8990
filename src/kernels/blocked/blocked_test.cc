#include "kernels/blocked/blocked.h"

#include <gtest/gtest.h>

#include "kernels/blocked/blocked_test_util.h"

namespace sardonyx::kernels {
namespace {

using namespace testing;  // NOLINT

double apply(BlockedBinary op, double a, double b) {
  switch (op) {
    case BlockedBinary::kAdd:
      return a + b;
    case BlockedBinary::kSub:
      return a - b;
    case BlockedBinary::kReverseSub:
      return b - a;
    case BlockedBinary::kMul:
      return a * b;
    case BlockedBinary::kDiv:
      return a / b;
    case BlockedBinary::kReverseDiv:
      return b / a;
  }
  return 0;
}

constexpr BlockedBinary kOps[] = {BlockedBinary::kAdd,        BlockedBinary::kSub,
                                  BlockedBinary::kReverseSub, BlockedBinary::kMul,
                                  BlockedBinary::kDiv,        BlockedBinary::kReverseDiv};
constexpr BlockedOperand kOperands[] = {BlockedOperand::kFull, BlockedOperand::kChannel,
                                        BlockedOperand::kChannelShared, BlockedOperand::kPixel,
                                        BlockedOperand::kScalar};

class BlockedTest : public ::testing::TestWithParam<Isa> {};

TEST_P(BlockedTest, Binary) {
  const BlockedKernels& kernels = blocked_kernels(GetParam());
  const auto epilogues = sample_epilogues();
  size_t turn = 0;
  const int64_t batch = 2;
  for (int64_t channels : {5, 16, 35}) {
    for (int64_t pixels : {1, 7, 300}) {
      for (int block : {4, 8, 16}) {
        for (BlockedBinary op : kOps) {
          for (BlockedOperand operand : kOperands) {
            const Epilogue& epilogue = epilogues[turn++ % epilogues.size()];
            const std::string what = "channels " + std::to_string(channels) + " pixels " +
                                     std::to_string(pixels) + " c" + std::to_string(block) +
                                     " op " + std::to_string(static_cast<int>(op)) + " operand " +
                                     std::to_string(static_cast<int>(operand)) + " activation " +
                                     std::to_string(static_cast<int>(epilogue.activation));
            SCOPED_TRACE(what);
            const auto a = random_floats(batch * channels * pixels, 1, 0.5f, 2.0f);
            std::vector<float> b, b_stored;
            switch (operand) {
              case BlockedOperand::kFull:
                b = random_floats(batch * channels * pixels, 2, -2.0f, -0.5f);
                b_stored = to_blocked(b, batch, channels, pixels, block);
                break;
              case BlockedOperand::kChannel:
                b = random_floats(batch * channels, 2, -2.0f, -0.5f);
                b_stored = to_blocked(b, batch, channels, 1, block);
                break;
              case BlockedOperand::kChannelShared:
                b = random_floats(channels, 2, -2.0f, -0.5f);
                b_stored = to_blocked(b, 1, channels, 1, block);
                break;
              case BlockedOperand::kPixel:
                b_stored = b = random_floats(batch * pixels, 2, -2.0f, -0.5f);
                break;
              case BlockedOperand::kScalar:
                b_stored = b = random_floats(1, 2, -2.0f, -0.5f);
                break;
            }
            std::vector<double> expected;
            for (int64_t n = 0; n < batch; ++n) {
              for (int64_t c = 0; c < channels; ++c) {
                for (int64_t p = 0; p < pixels; ++p) {
                  const size_t i = expected.size();
                  const float v = operand == BlockedOperand::kFull            ? b[i]
                                  : operand == BlockedOperand::kChannel       ? b[n * channels + c]
                                  : operand == BlockedOperand::kChannelShared ? b[c]
                                  : operand == BlockedOperand::kPixel         ? b[n * pixels + p]
                                                                              : b[0];
                  expected.push_back(activate(epilogue, apply(op, a[i], v)));
                }
              }
            }
            const GuardedFloats second(b_stored);
            GuardedFloats output(to_blocked(a, batch, channels, pixels, block));
            // In place, in pieces.
            const BlockedBinaryArgs args = {
                batch,   channels,      pixels,        block,         op,
                operand, output.data(), second.data(), output.data(), epilogue};
            const int64_t planes = batch * block_count(channels, block), middle = pixels / 2;
            kernels.binary(args, {0, 1, 0, pixels});
            kernels.binary(args, {1, planes, 0, middle});
            kernels.binary(args, {1, planes, middle, pixels});
            expect_near(from_blocked(output.values(), batch, channels, pixels, block), expected,
                        3e-6, what);
          }
        }
      }
    }
  }
}

TEST_P(BlockedTest, Activation) {
  const BlockedKernels& kernels = blocked_kernels(GetParam());
  const int64_t batch = 2;
  auto epilogues = sample_epilogues();
  epilogues.push_back({Activation::kTanh});
  epilogues.push_back({Activation::kGeluTanh});
  for (int64_t channels : {3, 16, 37}) {
    for (int64_t pixels : {1, 5, 64}) {
      for (int block : {4, 8, 16}) {
        for (const Epilogue& epilogue : epilogues) {
          const auto x = random_floats(batch * channels * pixels, 1, -4.0f, 4.0f);
          std::vector<double> expected;
          for (float v : x) expected.push_back(activate(epilogue, v));
          const GuardedFloats input(to_blocked(x, batch, channels, pixels, block));
          GuardedFloats output(input.size());
          const BlockedActivationArgs args = {batch,        channels,      pixels,  block,
                                              input.data(), output.data(), epilogue};
          const int64_t planes = batch * block_count(channels, block), middle = pixels / 2;
          kernels.activation(args, {0, 1, 0, pixels});
          kernels.activation(args, {1, planes, 0, middle});
          kernels.activation(args, {1, planes, middle, pixels});
          expect_near(from_blocked(output.values(), batch, channels, pixels, block), expected, 3e-6,
                      "activation " + std::to_string(static_cast<int>(epilogue.activation)));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, BlockedTest, ::testing::ValuesIn(supported_isas()),
                         [](const auto& info) { return to_string(info.param); });

}  // namespace
}  // namespace sardonyx::kernels
