// Scales are powers of two, so that what is rounded is the same before and after.
#include "passes/test_graphs.h"

namespace sardonyx {
namespace {

const std::string kConstants =
    "<float s = {0.0625}, uint8 z = {128}, float rs = {0.125}, int8 rz = {-3}, int8 iz = {1}, "
    "int8[4,5] w = {1, -2, 3, 100, -128, 127, 7, ...}, float ws = {0.5}, int8 wz = {2}, "
    "float[5] cs = {0.5, 0.25, 1, 2, 0.125}, int8[5] cz = {0, 1, -2, 3, 4}, "
    "int8[5,4] t = {1, -2, 3, 100, -128, 127, 7, ...}, int32[5] c = {1, -20, 300, 4, -5}, "
    "float[5] ct = {0.03125, 0.015625, 0.0625, 0.125, 0.0078125}, float[5] fb = {1, 2, -3, 4, 5}, "
    "float ys = {4}, uint8 yz = {100}, "
    "int8[5,4,2] k = {1, -2, 3, 100, -128, 127, 7, ...}, float[4] bs = {1, 2, 4, 8}, "
    "float[3] as = {1, 2, 4}, int16[4,1] wide = {1, 2, 3, 4}, float[3,1] rows = {1, 2, 4}> {\n"
    "q = QuantizeLinear(x, s, z)  d = DequantizeLinear(q, s, z)\n";

std::string graph(const std::string& lines, const std::string& output,
                  const std::string& input = "float[3,4] x") {
  return "g (" + input + ") => (" + output + ") " + kConstants + lines + "\n}\n";
}

Rewritten fused(const std::string& text) { return rewritten(21, text, Stage::kFused); }

TEST(QuantizeRules, MatMulBetweenScales) {
  const Rewritten whole = fused(
      graph("e = DequantizeLinear(w, ws, wz)  m = MatMul(d, e)  y = QuantizeLinear(m, ys, yz)",
            "uint8[3,5] y"));
  EXPECT_EQ(whole.nodes(), 2) << print(*whole.model->graph);
  EXPECT_EQ(whole.only("Int8Gemm").inputs.size(), 8u);
  const Rewritten columns =
      fused(graph("e = DequantizeLinear <axis = 1> (w, cs, cz)  m = MatMul(d, e)  y = "
                  "QuantizeLinear(m, ys, yz)",
                  "uint8[3,5] y"));
  EXPECT_EQ(columns.nodes(), 2) << print(*columns.model->graph);
  // No zero points; the result is left as floats.
  const Rewritten plain =
      fused(graph("e = DequantizeLinear <axis = -1> (w, cs)  y = MatMul(d, e)", "float[3,5] y"));
  EXPECT_EQ(plain.nodes(), 2) << print(*plain.model->graph);
  const Rewritten untyped = fused(graph(
      "e = DequantizeLinear(w, ws)  m = MatMul(d, e)  y = QuantizeLinear(m, ys)", "uint8[3,5] y"));
  EXPECT_EQ(untyped.nodes(), 2) << print(*untyped.model->graph);
}

TEST(QuantizeRules, MatMulOfTwoActivations) {
  const Rewritten result = fused(
      graph("r = QuantizeLinear(v, rs, rz)  e = DequantizeLinear(r, rs, rz)  m = MatMul(d, e)  "
            "y = QuantizeLinear(m, ys, yz)",
            "uint8[2,3,5] y", "float[2,3,4] x, float[2,4,5] v"));
  EXPECT_EQ(result.count("Int8Gemm"), 1) << print(*result.model->graph);
  EXPECT_EQ(result.nodes(), 3);
}

TEST(QuantizeRules, MatMulNot) {
  const auto count = [](const std::string& lines, const std::string& output) {
    return fused(graph(lines, output)).count("Int8Gemm");
  };
  // Scales of the rows of B, of A, of blocks.
  EXPECT_EQ(count("e = DequantizeLinear <axis = 0> (w, bs)  y = MatMul(d, e)", "float[3,5] y"), 0);
  EXPECT_EQ(count("e = DequantizeLinear(w, ws)  a = DequantizeLinear <axis = 0> (q, as)  "
                  "y = MatMul(a, e)",
                  "float[3,5] y"),
            0);
  // The product is wanted as well: it is rounded apart.
  const Rewritten shared =
      fused(graph("e = DequantizeLinear(w, ws)  m = MatMul(d, e)  y = QuantizeLinear(m, ys, yz)",
                  "uint8[3,5] y, float[3,5] m"));
  EXPECT_EQ(shared.count("QuantizeLinear"), 2);
  // 16-bit integers.
  EXPECT_EQ(count("e = DequantizeLinear(wide, ws)  y = MatMul(d, e)", "float[3,1] y"), 0);
  // Portable stage.
  EXPECT_EQ(rewritten(21, graph("e = DequantizeLinear(w, ws)  y = MatMul(d, e)", "float[3,5] y"))
                .count("Int8Gemm"),
            0);
}

TEST(QuantizeRules, Gemm) {
  for (const char* quantize : {"y = QuantizeLinear(m, ys, yz)", "y = QuantizeLinear(m, ys)"}) {
    const Rewritten result = fused(graph(
        "e = DequantizeLinear <axis = 0> (t, cs, cz)  f = DequantizeLinear <axis = 0> (c, ct)  "
        "m = Gemm <transB = 1> (d, e, f)  " +
            std::string(quantize),
        "uint8[3,5] y"));
    EXPECT_EQ(result.count("Int8Gemm"), 1) << print(*result.model->graph);
    EXPECT_EQ(result.count("Gemm"), 0);
    EXPECT_EQ(result.count("QuantizeLinear"), 1);
  }
  const Rewritten plain =
      fused(graph("e = DequantizeLinear(w, ws)  y = Gemm(d, e)", "float[3,5] y"));
  EXPECT_EQ(plain.count("Int8Gemm"), 1);
  const Rewritten scaled =
      fused(graph("e = DequantizeLinear(w, ws)  y = Gemm <alpha = 2.0> (d, e)", "float[3,5] y"));
  EXPECT_EQ(scaled.count("Int8Gemm"), 0);
}

TEST(QuantizeRules, BiasOfAMatMul) {
  const Rewritten result =
      fused(graph("e = DequantizeLinear(w, ws)  m = MatMul(d, e)  y = Add(m, fb)", "float[3,5] y"));
  EXPECT_EQ(result.nodes(), 2) << print(*result.model->graph);
  EXPECT_EQ(result.only("Int8Gemm").inputs.size(), 9u);
}

TEST(QuantizeRules, DynamicallyQuantisedProduct) {
  const std::string head =
      "dq, ds, dz = DynamicQuantizeLinear(x)  m = MatMulInteger(dq, w, dz, wz)  "
      "i = Cast <to = 1> (m)  ";
  // As exported: the scales are multiplied first.
  const Rewritten two = fused(graph(head + "p = Mul(ds, ws)  y = Mul(i, p)", "float[3,5] y"));
  EXPECT_EQ(two.nodes(), 2) << print(*two.model->graph);
  EXPECT_EQ(two.only("Int8Gemm").inputs.size(), 6u);
  const Rewritten columns = fused(graph(head + "p = Mul(ds, cs)  y = Mul(p, i)", "float[3,5] y"));
  EXPECT_EQ(columns.nodes(), 3) << print(*columns.model->graph);
  const Rewritten bias =
      fused(graph(head + "p = Mul(ds, ws)  f = Mul(i, p)  y = Add(f, fb)", "float[3,5] y"));
  EXPECT_EQ(bias.nodes(), 2) << print(*bias.model->graph);
  // To another type, by rows, or with a second user.
  EXPECT_EQ(fused(graph("dq, ds, dz = DynamicQuantizeLinear(x)  m = MatMulInteger(dq, w, dz)  "
                        "i = Cast <to = 11> (m)  p = Cast <to = 11> (ds)  y = Mul(i, p)",
                        "double[3,5] y"))
                .count("Int8Gemm"),
            0);
  EXPECT_EQ(fused(graph(head + "y = Mul(i, rows)", "float[3,5] y")).count("Int8Gemm"), 0);
  EXPECT_EQ(fused(graph(head + "p = Mul(ds, ws)  y = Mul(i, p)", "float[3,5] y, float[3,5] i"))
                .count("Int8Gemm"),
            0);
}

TEST(QuantizeRules, ConvBetweenScales) {
  const std::string input = "float[2,4,7] x";
  const auto conv = [&](const std::string& lines) {
    return fused(graph(lines + "y = QuantizeLinear(m, ys, yz)", "uint8[2,5,6] y", input));
  };
  const Rewritten bias = conv(
      "e = DequantizeLinear <axis = 0> (k, cs, cz)  f = DequantizeLinear <axis = 0> (c, ct)  "
      "m = Conv(d, e, f)  ");
  EXPECT_EQ(bias.nodes(), 2) << print(*bias.model->graph);
  EXPECT_EQ(bias.only("QLinearConv").inputs.size(), 9u);
  EXPECT_EQ(conv("e = DequantizeLinear(k, ws)  m = Conv(d, e)  ").count("QLinearConv"), 1);
  // Scales of the wrong axis; a bias of another scale; left as floats.
  EXPECT_EQ(conv("e = DequantizeLinear <axis = 1> (k, bs)  m = Conv(d, e)  ").count("QLinearConv"),
            0);
  EXPECT_EQ(
      conv("e = DequantizeLinear <axis = 0> (k, cs)  f = DequantizeLinear <axis = 0> (c, cs)  "
           "m = Conv(d, e, f)  ")
          .count("QLinearConv"),
      0);
  EXPECT_EQ(fused(graph("e = DequantizeLinear(k, ws)  y = Conv(d, e)", "float[2,5,6] y", input))
                .count("QLinearConv"),
            0);
}

}  // namespace
}  // namespace sardonyx
