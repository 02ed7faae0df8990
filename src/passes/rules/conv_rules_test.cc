#include "passes/test_graphs.h"

namespace sardonyx {
namespace {

constexpr const char* kWeights =
    "<float[4,2,3,3] w = {0.1, -0.2, 0.3, 0.7, ...}, float[4] b = {1, -1, 0.5, 2}, "
    "float[4] scale = {1, 2, -0.5, 3}, float[4] shift = {0, 1, 2, 3}, "
    "float[4] mean = {0.1, 0.2, -0.3, 1}, float[4] var = {1, 0.5, 2, 0.25}, "
    "float[1,4,1,1] row = {1, -2, 0.5, 3}, float[4,1,1] row3 = {1, -2, 0.5, 3}, "
    "float one_number = {3}, float[1,1,1,4] columns = {1, 2, 3, 4}> {\n";

std::string graph(const std::string& lines, const std::string& outputs = "float[N,4,4,4] y") {
  return "g (float[N,2,6,6] x) => (" + outputs + ") " + kWeights + lines + "\n}\n";
}

TEST(ConvRules, BatchNormalization) {
  for (const char* conv : {"Conv(x, w, b)", "Conv(x, w)"}) {
    const Rewritten result = rewritten(
        15,
        graph(std::string("c = ") + conv + "  y = BatchNormalization(c, scale, shift, mean, var)"),
        Stage::kCanonical, {}, 1e-5);
    EXPECT_EQ(result.nodes(), 1) << result.report.print();
    EXPECT_EQ(result.only("Conv").inputs.size(), 3u);
  }
}

TEST(ConvRules, BatchNormalizationAfterConvTranspose) {
  // Two groups: output channel = group * 2 + column.
  const Rewritten result = rewritten(
      15,
      "g (float[N,4,3,3] x) => (float[N,4,6,6] y) <float[4,2,2,2] w = {0.1, -0.4, 0.2, 0.9, 1, "
      "0.3, ...}, float[4] s = {1, 2, -0.5, 3}, float[4] z = {0, 1, 2, 3}, "
      "float[4] m = {0.1, 0.2, -0.3, 1}, float[4] v = {1, 0.5, 2, 0.25}> {\n"
      "c = ConvTranspose <group = 2, strides = [2, 2]> (x, w)\n"
      "y = BatchNormalization(c, s, z, m, v) }",
      Stage::kCanonical, {}, 1e-5);
  EXPECT_EQ(result.nodes(), 1) << result.report.print();
}

TEST(ConvRules, MulAndAdd) {
  for (const char* other : {"row", "row3", "one_number"}) {
    for (const char* op : {"Mul", "Add"}) {
      const std::string lines = std::string("c = Conv(x, w, b)  y = ") + op + "(c, " + other + ")";
      EXPECT_EQ(rewritten(15, graph(lines), Stage::kCanonical, {}, 1e-5).nodes(), 1) << lines;
    }
    const std::string lines = std::string("c = Conv(x, w)  y = Sub(c, ") + other + ")";
    EXPECT_EQ(rewritten(15, graph(lines), Stage::kCanonical, {}, 1e-5).nodes(), 1) << lines;
  }
  EXPECT_EQ(rewritten(15, graph("c = Conv(x, w, b)  y = Mul(c, columns)")).nodes(), 2);
}

TEST(ConvRules, Not) {
  const std::string two = "float[N,4,4,4] y, float[N,4,4,4] c";
  EXPECT_EQ(rewritten(15, graph("c = Conv(x, w, b)  y = Mul(c, row)", two)).nodes(), 2);
  EXPECT_EQ(rewritten(15, graph("c = Conv(x, w, b)  m = Mul(c, row)  y = Mul(m, c)")).nodes(), 3);
}

TEST(ConvRules, ArithmeticBefore) {
  const std::string head =
      "g (float[N,4,6,6] x) => (float[N,4,M,M] y) <float[4,2,3,3] w = {0.1, -0.2, 0.3, 0.7, ...}, "
      "float[4] b = {1, -1, 0.5, 2}, float[1,4,1,1] row = {1, -2, 0.5, 3}, float[1] one = {3}> {\n";
  for (const char* constant : {"row", "one"}) {
    for (const char* bias : {"", ", b"}) {
      for (const char* op : {"Mul", "Add"}) {
        const std::string lines = std::string("a = ") + op + "(x, " + constant +
                                  ")  y = Conv <group = 2> (a, w" + bias + ") }";
        EXPECT_EQ(rewritten(15, head + lines, Stage::kCanonical, {}, 1e-5).nodes(), 1) << lines;
      }
    }
  }
  const std::string padded = "Conv <group = 2, pads = [1, 1, 1, 1]> (a, w, b) }";
  EXPECT_EQ(
      rewritten(15, head + "a = Mul(x, row)  y = " + padded, Stage::kCanonical, {}, 1e-5).nodes(),
      1);
  EXPECT_EQ(
      rewritten(15, head + "a = Add(x, row)  y = " + padded, Stage::kCanonical, {}, 1e-5).nodes(),
      2);
}

TEST(ConvRules, Pad) {
  const std::string head =
      "g (float[N,2,4,4] x) => (float[N,1,3,4] y) <float[1,2,3,3] w = {0.1, -0.4, 0.2, ...}, "
      "int64[8] p = {0, 0, 1, 0, 0, 0, 0, 2}, int64[8] q = {0, 1, 0, 0, 0, -1, 1, 2}, "
      "float one = {1}, float zero = {0}> {\n";
  const Rewritten result = rewritten(13, head + "a = Pad(x, p, zero)  y = Conv(a, w) }");
  EXPECT_EQ(result.nodes(), 1) << result.report.print();
  EXPECT_EQ(result.only("Conv").attributes.get_ints("pads"), (std::vector<int64_t>{1, 0, 0, 2}));
  EXPECT_EQ(rewritten(13, head + "a = Pad(x, p, one)  y = Conv(a, w) }").nodes(), 2);
  EXPECT_EQ(rewritten(13, head + "a = Pad <mode = \"edge\"> (x, p)  y = Conv(a, w) }").nodes(), 2);
  EXPECT_EQ(rewritten(13, head + "a = Pad(x, q)  y = Conv(a, w) }").nodes(), 2);
}

}  // namespace
}  // namespace sardonyx
