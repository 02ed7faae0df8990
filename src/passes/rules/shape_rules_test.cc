#include "passes/test_graphs.h"

namespace sardonyx {
namespace {

TEST(ShapeRules, TransposeChain) {
  const Rewritten merged =
      rewritten(17,
                "g (float[2,3,N] x) => (float[3,2,N] y) { a = Transpose <perm = [1, 2, 0]> (x) "
                "y = Transpose <perm = [0, 2, 1]> (a) }");
  EXPECT_EQ(merged.nodes(), 1);
  EXPECT_EQ(merged.only("Transpose").attributes.get_ints("perm"), (std::vector<int64_t>{1, 0, 2}));
  const Rewritten gone =
      rewritten(17,
                "g (float[2,3,N] x) => (float[2,3,N] y) { a = Transpose(x)  b = Transpose(a) "
                "y = Neg(b) }");
  EXPECT_EQ(gone.nodes(), 1);
}

TEST(ShapeRules, ReshapeChain) {
  const Rewritten result =
      rewritten(17,
                "g (float[2,3,4] x) => (float[4,6] y) <int64[2] s = {6, 4}, int64[1] a = {0}, "
                "int64[2] t = {4, 6}> {\n"
                "b = Reshape(x, s)  c = Unsqueeze(b, a)  d = Flatten(c)  y = Reshape(d, t) }");
  EXPECT_EQ(result.nodes(), 1) << print(*result.model->graph);
  const Rewritten open = rewritten(
      17,
      "g (float[N,3,4] x) => (float[M,12] y) <int64[2] s = {-1, 4}, int64[2] t = {-1, 12}> {\n"
      "b = Reshape(x, s)  y = Reshape(b, t) }");
  EXPECT_EQ(open.nodes(), 1);
}

TEST(ShapeRules, ComputedShapeThatIsKnownInAllButOnePlace) {
  const Rewritten result =
      rewritten(17,
                "g (float[N,3,4] x) => (float[N,12] y) <int64[1] zero = {0}, int64[1] one = {1}, "
                "int64[1] rest = {12}> {\n"
                "s = Shape(x)  n = Slice(s, zero, one)  t = Concat <axis = 0> (n, rest) "
                "y = Reshape(x, t) }");
  EXPECT_EQ(result.nodes(), 1) << print(*result.model->graph);
}

TEST(ShapeRules, DimensionsThatInferenceCannotTell) {
  // Sizes of x and z may differ (one of them 1); the sum's own dimensions are what Shape gives.
  const Rewritten result =
      rewritten(17,
                "g (float[N,12] x, float[M,12] z) => (float[A,B,C] y) <int64[1] zero = {0}, "
                "int64[1] one = {1}, int64[2] rest = {3, 4}> {\n"
                "a = Add(x, x)  b = Add(a, a)  s = Shape(b)  n = Slice(s, zero, one) "
                "t = Concat <axis = 0> (n, rest)  y = Reshape(b, t) }");
  EXPECT_EQ(result.count("Shape"), 0) << print(*result.model->graph);
}

TEST(ShapeRules, GemmTakesTransposeAndC) {
  const Rewritten result = rewritten(
      17,
      "g (float[4,5] x) => (float[5,2] y) <float[2,4] w = {1, -2, 0.5, 0.25, 3, 1, -1, 2}, "
      "float[2] b = {0.5, -1}> {\n"
      "a = Transpose(x)  m = Gemm <transB = 1, alpha = 2.0> (a, w)  y = Add(m, b) }");
  EXPECT_EQ(result.nodes(), 1) << result.report.print();
  const Rewritten wide = rewritten(
      17,
      "g (float[1,4] x) => (float[3,2] y) <float[4,2] w = {1, -2, 0.5, 0.25, 3, 1, -1, 2}, "
      "float[3,2] b = {0.5, -1, 1, 2, 3, 4}> { m = Gemm(x, w)  y = Add(m, b) }");
  EXPECT_EQ(wide.nodes(), 2);
}

TEST(ArithmeticRules, ExactOnes) {
  const std::string head =
      "g (float[2,2] x) => (float[2,2] y) <float four = {4}, float three = {3}, float zero = {0}, "
      "float one = {1}, float m = {-1}> {\n";
  EXPECT_EQ(rewritten(17, head + "y = Div(x, four) }", Stage::kCanonical, {}, 0).count("Mul"), 1);
  EXPECT_EQ(rewritten(17, head + "y = Div(x, three) }", Stage::kCanonical, {}, 0).count("Div"), 1);
  EXPECT_EQ(rewritten(17, head + "y = Sub(x, three) }", Stage::kCanonical, {}, 0).count("Add"), 1);
  const Rewritten clip =
      rewritten(17, head + "r = Relu(x)  y = Clip(r, m, one) }", Stage::kCanonical, {}, 0);
  EXPECT_EQ(clip.nodes(), 1);
  const Rewritten old = rewritten(10, head + "r = Relu(x)  y = Clip <min = -1.0, max = 1.0> (r) }",
                                  Stage::kCanonical, {}, 0);
  EXPECT_EQ(old.nodes(), 1);
  EXPECT_EQ(rewritten(17,
                      "g (double[2,2] x) => (double[2,2] y) <double m = {-1}, double one = {1}> { "
                      "r = Relu(x)  y = Clip(r, m, one) }")
                .nodes(),
            1);
}

TEST(ArithmeticRules, DivideByAReciprocal) {
  EXPECT_EQ(rewritten(17,
                      "g (float[2,2] x, float[2,2] z) => (float[2,2] y) <float one = {1}> { "
                      "r = Div(one, z)  y = Mul(x, r) }")
                .nodes(),
            1);
}

}  // namespace
}  // namespace sardonyx
