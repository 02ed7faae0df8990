#include "passes/test_graphs.h"

namespace sardonyx {
namespace {

const std::string kConv =
    "<float[4,2,3,3] w = {0.1, -0.2, 0.3, ...}, float[4] b = {1, -1, 0.5, 2}, float zero = {0}, "
    "float six = {6}> {\n";

std::string conv(const std::string& lines, const std::string& outputs = "float[1,4,6,6] y") {
  return "g (float[1,2,6,6] x, float[1,4,6,6] r) => (" + outputs + ") " + kConv + lines + "\n}\n";
}

TEST(FusedRules, ActivationIntoConv) {
  for (const char* activation : {"Relu(c)", "LeakyRelu <alpha = 0.2> (c)", "Clip(c, zero, six)",
                                 "Sigmoid(c)", "Tanh(c)", "HardSigmoid <alpha = 0.3> (c)",
                                 "HardSwish(c)", "Gelu(c)", "Gelu <approximate = \"tanh\"> (c)"}) {
    const Rewritten result = rewritten(
        20, conv(std::string("c = Conv <pads = [1, 1, 1, 1]> (x, w, b)  y = ") + activation),
        Stage::kFused);
    EXPECT_EQ(result.nodes(), 1) << activation << "\n" << result.report.print();
    EXPECT_NE(result.only("FusedConv").attributes.get_string("activation", ""), "");
  }
  const Rewritten silu =
      rewritten(17, conv("c = Conv <pads = [1, 1, 1, 1]> (x, w)  s = Sigmoid(c)  y = Mul(c, s)"),
                Stage::kFused);
  EXPECT_EQ(silu.only("FusedConv").attributes.get_string("activation", ""), "Silu");
}

TEST(FusedRules, ResidualThenActivation) {
  const Rewritten result =
      rewritten(17, conv("c = Conv <pads = [1, 1, 1, 1]> (x, w, b)  a = Add(r, c)  y = Relu(a)"),
                Stage::kFused);
  EXPECT_EQ(result.nodes(), 1) << result.report.print();
  EXPECT_EQ(result.only("FusedConv").inputs.size(), 4u);
  // After the activation nothing more goes in.
  const Rewritten late =
      rewritten(17, conv("c = Conv <pads = [1, 1, 1, 1]> (x, w, b)  a = Relu(c)  y = Add(r, a)"),
                Stage::kFused);
  EXPECT_EQ(late.count("FusedConv"), 1);
  EXPECT_EQ(late.count("Add"), 1);
}

TEST(FusedRules, ConvNot) {
  EXPECT_EQ(rewritten(17,
                      conv("c = Conv <pads = [1, 1, 1, 1]> (x, w, b)  y = Relu(c)",
                           "float[1,4,6,6] y, float[1,4,6,6] c"),
                      Stage::kFused)
                .count("FusedConv"),
            0);
  EXPECT_EQ(rewritten(17, conv("c = Conv <pads = [1, 1, 1, 1]> (x, w, b)  y = Relu(c)"))
                .count("FusedConv"),
            0);
  const char* wide =
      "g (double[1,1,4,4] x) => (double[1,1,4,4] y) <double[1,1,1,1] w = {2}> { c = Conv(x, w) "
      "y = Relu(c) }";
  EXPECT_EQ(rewritten(17, wide, Stage::kFused).count("FusedConv"), 0);
  const char* computed =
      "g (float[1,1,4,4] x, float[1,1,1,1] w) => (float[1,1,4,4] y) { c = Conv(x, w)  y = Relu(c) "
      "}";
  EXPECT_EQ(rewritten(17, computed, Stage::kFused).count("FusedConv"), 0);
}

TEST(FusedRules, ConvTranspose) {
  const Rewritten result = rewritten(
      17,
      "g (float[1,2,3,3] x) => (float[1,2,6,6] y) <float[2,2,2,2] w = {0.1, -0.3, 0.2, ...}> {"
      " c = ConvTranspose <strides = [2, 2]> (x, w)  y = Relu(c) }",
      Stage::kFused);
  EXPECT_EQ(result.nodes(), 1);
  EXPECT_EQ(result.count("FusedConvTranspose"), 1);
}

std::string product(const std::string& lines) {
  return "g (float[N,3,4] x, float[N,3,2] r) => (float[N,3,2] y) "
         "<float[4,2] w = {1, -2, 0.5, 0.25, 3, 1, -1, 2}, float[2] b = {0.5, -1}, "
         "float[1,1,2] deep = {0.5, -1}> {\n" +
         lines + "\n}\n";
}

TEST(FusedRules, MatMul) {
  const Rewritten bias =
      rewritten(20, product("m = MatMul(x, w)  a = Add(b, m)  y = Gelu(a)"), Stage::kFused);
  EXPECT_EQ(bias.nodes(), 1) << bias.report.print();
  EXPECT_EQ(bias.only("FusedMatMul").attributes.get_string("activation", ""), "Gelu");
  const Rewritten deep =
      rewritten(20, product("m = MatMul(x, w)  y = Add(m, deep)"), Stage::kFused);
  EXPECT_EQ(deep.nodes(), 1) << deep.report.print();
  const Rewritten residual =
      rewritten(20,
                "g (float[5,4] x, float[5,2] r) => (float[5,2] y) "
                "<float[4,2] w = {1, -2, 0.5, 0.25, 3, 1, -1, 2}, float[2] b = {0.5, -1}> {\n"
                "m = MatMul(x, w)  a = Add(m, b)  s = Add(a, r)  y = Tanh(s) }",
                Stage::kFused);
  EXPECT_EQ(residual.nodes(), 1) << residual.report.print();
}

TEST(FusedRules, Gemm) {
  const Rewritten result = rewritten(
      17,
      "g (float[5,4] x) => (float[5,2] y) <float[2,4] w = {1, -2, 0.5, 0.25, 3, 1, -1, 2}, "
      "float[1,2] b = {0.5, -1}> {\n"
      "m = Gemm <transB = 1, alpha = 0.5> (x, w, b)  y = Relu(m) }",
      Stage::kFused);
  EXPECT_EQ(result.nodes(), 1) << result.report.print();
  EXPECT_EQ(result.only("FusedMatMul").attributes.get_int("trans_b", 0), 1);
  const Rewritten matrix = rewritten(17,
                                     "g (float[2,4] x, float[2,2] c) => (float[2,2] y) "
                                     "<float[4,2] w = {1, -2, 0.5, 0.25, 3, 1, -1, 2}> {\n"
                                     "m = Gemm(x, w, c)  y = Relu(m) }",
                                     Stage::kFused);
  EXPECT_EQ(matrix.count("FusedMatMul"), 0);
}

}  // namespace
}  // namespace sardonyx
