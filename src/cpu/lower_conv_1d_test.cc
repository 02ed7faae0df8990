// Convolutions of one spatial axis against the generic operators.
#include <fmt/format.h>

#include "cpu/test_compile.h"

namespace sardonyx::cpu {
namespace {

using testing::compare_lowered;

int count(const std::map<std::string, int>& counts, const std::string& op) {
  const auto at = counts.find(op);
  return at == counts.end() ? 0 : at->second;
}

struct Case {
  const char* node;
  const char* weights;
  const char* wanted;  // an operator that the lowered program must hold
};

class Conv1d : public ::testing::TestWithParam<Case> {};

TEST_P(Conv1d, EqualsGeneric) {
  const Case& c = GetParam();
  const std::string text =
      fmt::format("main (float[N,16,L] x, {}) => (float y) {{\n y = {}\n}}", c.weights, c.node);
  for (const Shape& x : {Shape{2, 16, 11}, Shape{1, 16, 6}}) {
    EXPECT_EQ(count(compare_lowered(text, {x}), c.wanted), 1) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Nodes, Conv1d,
    ::testing::Values(
        Case{"Conv(x, w1)", "float[20,16,1] w1", "BlockedConv"},
        Case{"Conv<pads=[1,2], strides=[2]>(x, w1, w2)", "float[20,16,3] w1, float[20] w2",
             "BlockedConv"},
        Case{"Conv<dilations=[2], kernel_shape=[3]>(x, w1)", "float[7,16,3] w1", "BlockedConv"},
        Case{"Conv<auto_pad=\"SAME_LOWER\", strides=[2]>(x, w1)", "float[8,16,4] w1",
             "BlockedConv"},
        Case{"Conv<group=2, pads=[1,1]>(x, w1)", "float[16,8,3] w1", "BlockedConv"},
        Case{"Conv<group=16, pads=[0,3]>(x, w1)", "float[16,1,4] w1", "BlockedDepthwiseConv"},
        Case{"ConvTranspose<strides=[2], pads=[1,0], output_padding=[1]>(x, w1, w2)",
             "float[16,12,3] w1, float[12] w2", "BlockedConvTranspose"},
        Case{"ConvTranspose<strides=[2], output_shape=[23]>(x, w1)", "float[16,9,3] w1",
             "ConvTranspose"}));

TEST(Conv1d, ChainsStayWide) {
  const auto counts = compare_lowered(
      "main (float[N,12,L] x, float[12,12,3] w1, float[12] w2, float[12,12,1] w3) => (float y) {\n"
      "a = Conv<pads=[1,1]>(x, w1, w2)\n r = Relu(a)\n b = Conv(r, w3)\n s = Add(b, r)\n"
      "y = Relu(s)\n}",
      {{2, 12, 9}});
  EXPECT_EQ(count(counts, "BlockedConv"), 2);
  EXPECT_EQ(count(counts, "ReorderToBlocked"), 1);
  EXPECT_EQ(count(counts, "ReorderFromBlocked"), 1);
  EXPECT_EQ(count(counts, "Unsqueeze"), 1);
  EXPECT_EQ(count(counts, "Squeeze"), 1);
}

TEST(Conv1d, ComputedWeightsStayGeneric) {
  const auto counts =
      compare_lowered("main (float[N,4,L] x, float[8,4,3] v) => (float y) {\n y = Conv(x, v)\n}",
                      {{2, 4, 9}, {8, 4, 3}});
  EXPECT_EQ(count(counts, "Conv"), 1);
}

}  // namespace
}  // namespace sardonyx::cpu
