#include "passes/test_graphs.h"

namespace sardonyx {
namespace {

// The nodes left of `lines`, followed by a Neg so that y is not an output of the matched node.
int64_t left(const std::string& lines, const std::string& constants = "float zero = {0}",
             const std::string& x = "float[2,3]", const std::string& y = "float[2,3]",
             int opset = 17) {
  return rewritten(opset, "g (" + x + " x) => (" + y + " y) <" + constants + "> {\n" + lines +
                              "  y = Neg(t) }")
             .nodes() -
         1;
}

TEST(NoopRules, Removed) {
  EXPECT_EQ(left("t = Identity(x)"), 0);
  EXPECT_EQ(left("t = Cast <to = 1> (x)"), 0);
  EXPECT_EQ(left("t = Dropout(x)"), 0);
  EXPECT_EQ(
      left("t = Dropout <ratio = 0.5> (x)", "float zero = {0}", "float[2,3]", "float[2,3]", 10), 0);
  EXPECT_EQ(left("t = Add(zero, x)"), 0);
  EXPECT_EQ(left("t = Sub(x, zero)"), 0);
  EXPECT_EQ(left("t = Mul(x, one)", "float[1,1] one = {1}"), 0);
  EXPECT_EQ(left("t = Div(x, one)", "float[2,3] one = {1, ...}"), 0);
  EXPECT_EQ(left("t = Pow(x, one)", "float one = {1}"), 0);
  EXPECT_EQ(left("t = Mul(x, one)", "int32[3] one = {1, 1, 1}", "int32[N,3]", "int32[N,3]"), 0);
  EXPECT_EQ(left("t = Transpose <perm = [0, 1]> (x)"), 0);
  EXPECT_EQ(left("t = Reshape(x, s)", "int64[2] s = {-1, 3}"), 0);
  EXPECT_EQ(left("t = Expand(x, s)", "int64[2] s = {1, 3}"), 0);
  EXPECT_EQ(left("t = Slice(x, s, e)", "int64[1] s = {0}, int64[1] e = {9}"), 0);
  EXPECT_EQ(left("t = Concat <axis = 0> (x)"), 0);
  EXPECT_EQ(left("t = Sum(x)"), 0);
  EXPECT_EQ(left("r = Relu(x)  t = Relu(r)"), 1);
}

TEST(NoopRules, Kept) {
  EXPECT_EQ(left("t = Cast <to = 11> (x)", "float zero = {0}", "float[2,3]", "double[2,3]"), 1);
  EXPECT_EQ(left("t = Add(x, c)", "float[3] c = {0, 0, 1}"), 1);
  EXPECT_EQ(left("t = Sub(zero, x)"), 1);
  EXPECT_EQ(left("t = Div(one, x)", "float one = {1}"), 1);
  // The constant makes the shape larger.
  EXPECT_EQ(left("t = Mul(x, one)", "float[4,1,1] one = {1, ...}", "float[2,3]", "float[4,2,3]"),
            1);
  EXPECT_EQ(left("t = Mul(x, one)", "float[2,3] one = {1, ...}", "float[1,3]", "float[2,3]"), 1);
  EXPECT_EQ(left("t = Slice(x, s, e, a, m)",
                 "int64[1] s = {-1}, int64[1] e = {-9}, int64[1] a = {0}, int64[1] m = {-1}"),
            1);
}

TEST(NoopRules, Pad) {
  EXPECT_EQ(left("t = Pad(x, p)", "int64[4] p = {0, 0, 0, 0}"), 0);
  EXPECT_EQ(left("t = Pad(x, p)", "int64[4] p = {0, 1, 0, -1}"), 1);
}

TEST(NoopRules, Tile) { EXPECT_EQ(left("t = Tile(x, p)", "int64[2] p = {1, 1}"), 0); }

TEST(NoopRules, BetweenInputAndOutputOfTheGraph) {
  const Rewritten result = rewritten(17, "g (float[N] x) => (float[N] y) { y = Identity(x) }");
  EXPECT_EQ(result.nodes(), 1);
  EXPECT_EQ(result.report.find("identity")->rejected.count("graph output"), 1u);
  EXPECT_EQ(rewritten(17, "g (float[N] x) => (float[N] y) { t = Neg(x)  y = Identity(t) }").nodes(),
            1);
  EXPECT_EQ(rewritten(17,
                      "g (float[N] x) => (float[N] y, float[N] t) { t = Neg(x) "
                      "y = Identity(t) }")
                .nodes(),
            2);
}

TEST(NoopRules, WhereOfNot) {
  const Rewritten result = rewritten(17,
                                     "g (bool[N] c, float[N] a, float[N] b) => (float[N] y) "
                                     "{ n = Not(c)  y = Where(n, a, b) }");
  EXPECT_EQ(result.nodes(), 1);
}

}  // namespace
}  // namespace sardonyx
