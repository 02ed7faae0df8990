#include "cpu/test_compile.h"

namespace sardonyx::cpu::testing {
namespace {

std::string model(const std::string& output, const std::string& nodes) {
  return "<ir_version: 8, opset_import: [\"\": 21]>\n"
         "g (float[N,3,6] x) => (" +
         output +
         ") <int8[6,37] b = {1, -2, 3, 100, -128, 127, 7, ...}, uint8[6,37] u = {255, 0, 128, 7, "
         "...}, int8 bz = {2}, float bs = {0.5}, float ys = {4}, uint8 yz = {100}, float[37] c = "
         "{1, 2, -3, ...}, float ds = {0.5}, uint8 dz = {3}> {\n" +
         "q, s, z = DynamicQuantizeLinear(x)\n" + nodes + "\n}\n";
}

TEST(LowerInt8Gemm, PacksConstantBytes) {
  const auto steps = compare_lowered(
      model("float[N,3,37] y", "m = MatMulInteger(q, b, z, bz)  y = Cast <to = 1> (m)"),
      {{2, 3, 6}});
  EXPECT_EQ(steps.at("PackedInt8Gemm"), 1);
  EXPECT_EQ(steps.count("MatMulInteger") + steps.count("PackInt8GemmB"), 0u);
  const auto unsigned_steps = compare_lowered(
      model("float[N,3,37] y", "m = MatMulInteger(q, u, z)  y = Cast <to = 1> (m)"), {{2, 3, 6}});
  EXPECT_EQ(unsigned_steps.at("PackedInt8Gemm"), 1);
}

TEST(LowerInt8Gemm, ScalesAndBias) {
  const auto steps =
      compare_lowered(model("float[N,3,37] y",
                            "m = MatMulInteger(q, b, z, bz)  i = Cast <to = 1> (m)  p = Mul(s, "
                            "bs)  f = Mul(i, p)  y = Add(f, c)"),
                      {{2, 3, 6}}, 0);
  EXPECT_EQ(steps.at("PackedInt8Gemm"), 1);
  EXPECT_EQ(steps.at("DynamicQuantizeLinear"), 1);
  EXPECT_EQ(steps.size(), 2u);
}

TEST(LowerInt8Gemm, QLinearMatMul) {
  const auto steps = compare_lowered(model("float[N,3,37] y",
                                           "m = QLinearMatMul(q, s, z, b, bs, bz, ys, yz)  "
                                           "y = DequantizeLinear(m, ys, yz)"),
                                     {{2, 3, 6}}, 0);
  EXPECT_EQ(steps.at("PackedInt8Gemm"), 1);
}

// Quantised weights that no integer rule takes are dequantised once, then packed.
TEST(LowerInt8Gemm, OtherWeightsBecomeFloats) {
  const auto steps = compare_lowered(
      model("float[N,3,37] y", "e = DequantizeLinear(u, ds, dz)  y = MatMul(x, e)"), {{2, 3, 6}});
  EXPECT_EQ(steps.at("PackedGemm"), 1);
  EXPECT_EQ(steps.count("DequantizeLinear"), 0u);
}

}  // namespace
}  // namespace sardonyx::cpu::testing
