// Lowered graphs against the generic operators.
#include <fmt/format.h>

#include "cpu/test_compile.h"

namespace sardonyx::cpu {
namespace {

using testing::compare_lowered;
using Counts = std::map<std::string, int>;

int count(const Counts& counts, const std::string& op) {
  const auto at = counts.find(op);
  return at == counts.end() ? 0 : at->second;
}

// A graph of a 1 x 1 convolution that makes `t` (blocked) from x, then the nodes of `body`, which
// make y.
std::string after_conv(int channels, const std::string& body, const std::string& more_inputs = "") {
  return fmt::format(
      "main (float[N,{0},H,W] x, float[{0},{0},1,1] w0{2}) => (float[] y) {{\n t = Conv(x, w0)\n "
      "{1}\n}}",
      channels, body, more_inputs);
}

// The output's type is inferred: the text syntax needs one of unknown rank.
std::string with_output(std::string text) {
  const size_t at = text.find("float[] y");
  return text.replace(at, 9, "float y");
}

struct Case {
  const char* nodes;
  const char* weights;  // more inputs
  const char* wanted;   // an operator that the lowered program must hold
};

class AfterConv : public ::testing::TestWithParam<Case> {};

TEST_P(AfterConv, EqualsGeneric) {
  const Case& c = GetParam();
  for (int channels : {8, 5, 19}) {
    for (int block : {8, 16}) {
      std::string more = c.weights, nodes = c.nodes;
      for (std::string* text : {&more, &nodes}) {
        for (size_t at; (at = text->find("$C")) != std::string::npos;) {
          text->replace(at, 2, std::to_string(channels));
        }
      }
      const std::string text = with_output(after_conv(channels, nodes, more));
      for (const Shape& x : {Shape{2, channels, 7, 9}, Shape{1, channels, 1, 1}}) {
        if (x[2] == 1 && nodes.find("Pool<k") != std::string::npos) continue;
        const Counts counts = compare_lowered(text, {x}, 2e-5, block);
        EXPECT_GE(count(counts, c.wanted), 1) << text;
        EXPECT_EQ(count(counts, "ReorderToBlocked") + count(counts, "ReorderFromBlocked"), 2)
            << text;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Nodes, AfterConv,
    ::testing::Values(
        Case{"y = Conv<pads=[1,1,1,1]>(t, w1, w2)", ", float[20,$C,3,3] w1, float[20] w2",
             "BlockedConv"},
        Case{"y = Conv<group=$C, pads=[1,1,1,1], strides=[2,1]>(t, w1, w2)",
             ", float[$C,1,3,3] w1, float[$C] w2", "BlockedDepthwiseConv"},
        Case{"y = Conv<group=$C, auto_pad=\"SAME_UPPER\", strides=[2,2]>(t, w1)",
             ", float[$C,1,5,5] w1", "BlockedDepthwiseConv"},
        Case{"y = ConvTranspose<strides=[2,2]>(t, w1, w2)", ", float[$C,11,2,2] w1, float[11] w2",
             "BlockedConvTranspose"},
        Case{"y = ConvTranspose<strides=[2,3], pads=[1,0,1,2], output_padding=[1,0]>(t, w1)",
             ", float[$C,3,4,3] w1", "BlockedConvTranspose"},
        Case{"y = MaxPool<kernel_shape=[3,3], strides=[2,2], pads=[0,0,1,1]>(t)", "",
             "BlockedMaxPool"},
        Case{"y = AveragePool<kernel_shape=[3,2], strides=[2,2], pads=[1,0,1,1], "
             "count_include_pad=1, ceil_mode=1>(t)",
             "", "BlockedAveragePool"},
        Case{"y = GlobalAveragePool(t)", "", "BlockedGlobalAveragePool"},
        Case{"g = GlobalAveragePool(t)\n y = Mul(t, g)", "", "BlockedBinary"},
        Case{"g = GlobalAveragePool(t)\n y = Sub(g, t)", "", "BlockedBinary"},
        Case{"g = GlobalAveragePool(t)\n y = Div(t, g)", "", "BlockedBinary"},
        Case{"u = Sigmoid(t)\n y = Mul(u, w1)", ", float[$C,1,1] w1", "BlockedBinary"},
        Case{"u = Sigmoid(t)\n y = Div(u, w1)", ", float[1] w1", "BlockedBinary"},
        Case{"u = Sigmoid(t)\n y = Sub(w1, u)", ", float[] w1", "BlockedBinary"},
        Case{"y = LeakyRelu<alpha=0.3>(t)", "", "BlockedConv"},
        Case{"y = Resize<mode=\"nearest\", coordinate_transformation_mode=\"asymmetric\", "
             "nearest_mode=\"floor\">(t, , c)",
             ", float[4] c = {1, 1, 2, 2}", "BlockedResize"},
        Case{"y = Resize<mode=\"linear\">(t, , c)", ", float[4] c = {1, 1, 1.5, 0.7}",
             "BlockedResize"}));

TEST(Layout, ResidualAndActivationJoinTheConvolution) {
  const Counts counts = compare_lowered(
      "main (float[N,12,H,W] x, float[12,12,3,3] w1, float[12] w2, float[12,12,1,1] w3) => "
      "(float[N,12,H,W] y) {\n"
      "a = Conv<pads=[1,1,1,1]>(x, w1, w2)\n r = Relu(a)\n b = Conv(r, w3)\n s = Add(b, r)\n"
      "y = Relu(s)\n}",
      {{2, 12, 6, 5}});
  EXPECT_EQ(count(counts, "BlockedConv"), 2);
  EXPECT_EQ(count(counts, "ReorderToBlocked"), 1);
  EXPECT_EQ(count(counts, "ReorderFromBlocked"), 1);
  EXPECT_EQ(counts.size(), 3u) << ::testing::PrintToString(counts);
}

TEST(Layout, FirstLayerReadsPlainInput) {
  const Counts counts = compare_lowered(
      "main (float[N,3,H,W] x, float[16,3,3,3] w1) => (float y) {\n"
      "y = Conv<pads=[1,1,1,1], strides=[2,2]>(x, w1)\n}",
      {{1, 3, 17, 14}});
  EXPECT_EQ(count(counts, "ReorderToBlocked"), 0);
}

TEST(Layout, TransposesToChannelsLastBecomePartOfReorders) {
  const Counts counts = compare_lowered(
      "main (float[N,H,W,8] x, float[16,8,3,3] w1) => (float y) {\n"
      "t = Transpose<perm=[0,3,1,2]>(x)\n c = Conv(t, w1)\n y = Transpose<perm=[0,2,3,1]>(c)\n}",
      {{2, 7, 6, 8}});
  EXPECT_EQ(count(counts, "Transpose"), 0);
}

TEST(Layout, ConcatOfWholeBlocks) {
  for (int last : {16, 5}) {
    const Counts counts = compare_lowered(
        fmt::format("main (float[N,8,H,W] x, float[16,8,1,1] w1, float[{},8,1,1] w2) => (float y) "
                    "{{\n a = Conv(x, w1)\n b = Conv(x, w2)\n y = Concat<axis=1>(a, x, b)\n}}",
                    last),
        {{2, 8, 5, 3}});
    EXPECT_EQ(count(counts, "BlockedConcat"), 1);
  }
}

TEST(Layout, UnknownSizesBroadcastAtRunTime) {
  const std::string text =
      "main (float[N,8,H,W] x, float[N,8,P,Q] z, float[8,8,1,1] w1) => (float y) {\n"
      "a = Conv(x, w1)\n b = Conv(z, w1)\n y = Sub(a, b)\n}";
  compare_lowered(text, {{2, 8, 3, 4}, {2, 8, 3, 4}});
  compare_lowered(text, {{2, 8, 3, 4}, {2, 8, 1, 1}});
  compare_lowered(text, {{2, 8, 1, 1}, {2, 8, 3, 4}});
  compare_lowered(text, {{2, 8, 3, 1}, {2, 8, 1, 4}});
}

TEST(Layout, GroupsThatAreNoBlocksStayGeneric) {
  const Counts counts = compare_lowered(
      "main (float[N,12,H,W] x, float[12,6,1,1] w1) => (float y) {\n y = Conv<group=2>(x, w1)\n}",
      {{1, 12, 4, 4}});
  EXPECT_EQ(count(counts, "Conv"), 1);
}

TEST(Layout, TransposedConvolutionIntoFewPixelsIsAShuffle) {
  const Counts counts = compare_lowered(
      "main (float[N,19,H,W] x, float[19,3,2,3] w1, float[3] w2) => (float y) {\n"
      "t = ConvTranspose<strides=[2,3]>(x, w1, w2)\n y = Sigmoid(t)\n}",
      {{2, 19, 5, 3}});
  EXPECT_EQ(count(counts, "DepthToSpaceFromBlocked"), 1);
  EXPECT_EQ(count(counts, "ReorderFromBlocked"), 0);
}

TEST(Layout, SharedValuesAreReorderedOnce) {
  const Counts counts = compare_lowered(
      "main (float[N,8,H,W] x, float[8,8,1,1] w1) => (float u, float v, float t) {\n"
      "t = Conv(x, w1)\n u = Softmax<axis=3>(t)\n v = Transpose<perm=[3,2,1,0]>(t)\n}",
      {{2, 8, 5, 3}});
  EXPECT_EQ(count(counts, "ReorderFromBlocked"), 1);
}

TEST(PackGemm, ResidualThatIsTheInputIsNotOverwritten) {
  // Two panels: the second reads the columns that writing the first over the residual would have
  // hit.
  const Counts counts = compare_lowered(
      "main (float[M,64] x, float[64,64] w1) => (float y) {\n"
      "r = Relu(x)\n a = MatMul(r, w1)\n y = Add(a, r)\n}",
      {{8, 64}}, 1e-4);
  EXPECT_EQ(count(counts, "PackedGemm"), 1);
}

TEST(PackGemm, EqualsGeneric) {
  Counts counts = compare_lowered(
      "main (float[B,M,40] x, float[40,33] w1, float[33] w2) => (float y) {\n"
      "a = MatMul(x, w1)\n b = Add(a, w2)\n y = Gelu(b)\n}",
      {{2, 7, 40}}, 1e-4);
  EXPECT_EQ(count(counts, "PackedGemm"), 1);
  EXPECT_EQ(counts.size(), 1u);
  counts = compare_lowered(
      "main (float[M,40] x, float[33,40] w1, float[1,33] w2) => (float y) {\n"
      "y = Gemm<transB=1, alpha=0.5>(x, w1, w2)\n}",
      {{7, 40}}, 1e-4);
  EXPECT_EQ(count(counts, "PackedGemm"), 1);
  counts = compare_lowered(
      "main (float[M,40] x, float[40,33] w1, float[M,33] c) => (float y) {\n"
      "y = Gemm(x, w1, c)\n}",
      {{7, 40}, {7, 33}}, 1e-4);
  EXPECT_EQ(count(counts, "PackedGemm"), 1);
}

}  // namespace
}  // namespace sardonyx::cpu
