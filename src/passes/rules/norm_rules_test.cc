#include "passes/test_graphs.h"

namespace sardonyx {
namespace {

std::string layer_norm(const std::string& lines, const std::string& outputs = "float[N,4] y") {
  return "g (float[N,4] x) => (" + outputs +
         ") <float two = {2}, float one = {1}, float eps = {1e-5}, float[4] w = {1, -2, 0.5, 3}, "
         "float[4] b = {0.1, 0.2, -1, 4}> {\n" +
         lines + "\n}\n";
}

const char* const kCore =
    "m = ReduceMean <axes = [-1]> (x)  d = Sub(x, m)  p = Pow(d, two)  v = ReduceMean <axes = [1]> "
    "(p)  e = Add(v, eps)  s = Sqrt(e)  ";

TEST(NormRules, LayerNormWithScaleAndBias) {
  const std::string text =
      layer_norm(std::string(kCore) + "n = Div(d, s)  k = Mul(n, w)  y = Add(k, b)");
  const Rewritten standard = rewritten(17, text, Stage::kCanonical, {}, 1e-5);
  EXPECT_EQ(standard.nodes(), 1) << standard.report.print();
  const Node& node = standard.only("LayerNormalization");
  EXPECT_EQ(node.inputs.size(), 3u);
  EXPECT_EQ(node.attributes.get_int("axis", 0), -1);
  EXPECT_EQ(rewritten(13, text, Stage::kCanonical, {}, 1e-5).count("LayerNormalization"), 0);
  EXPECT_EQ(rewritten(13, text, Stage::kFused, {}, 1e-5).nodes(), 1);
}

TEST(NormRules, LayerNormForms) {
  const std::string square =
      "m = ReduceMean <axes = [-1]> (x)  d = Sub(x, m)  p = Mul(d, d)  v = ReduceMean <axes = [-1]>"
      " (p)  e = Add(v, eps)  s = Sqrt(e)  ";
  for (const std::string& form :
       {std::string(kCore) + "y = Div(d, s)", square + "y = Div(d, s)",
        square + "r = Reciprocal(s)  y = Mul(d, r)", square + "r = Div(one, s)  y = Mul(r, d)"}) {
    const Rewritten result = rewritten(17, layer_norm(form), Stage::kCanonical, {}, 1e-5);
    EXPECT_EQ(result.nodes(), 1) << form << "\n" << result.report.print();
    EXPECT_EQ(result.count("LayerNormalization"), 1);
  }
}

TEST(NormRules, SubtractionWrittenTwice) {
  const Rewritten result =
      rewritten(17,
                layer_norm("m = ReduceMean <axes = [-1]> (x)  d = Sub(x, m)  d2 = Sub(x, m) "
                           "p = Pow(d, two)  v = ReduceMean <axes = [-1]> (p) "
                           "e = Add(v, eps)  s = Sqrt(e)  y = Div(d2, s)"),
                Stage::kCanonical, {}, 1e-5);
  EXPECT_EQ(result.nodes(), 1);
}

TEST(NormRules, LayerNormNot) {
  // The centred value is an output of the graph.
  EXPECT_EQ(
      rewritten(17, layer_norm(std::string(kCore) + "y = Div(d, s)", "float[N,4] y, float[N,4] d"),
                Stage::kCanonical, {}, 1e-5)
          .count("LayerNormalization"),
      0);
  // Other axes.
  const char* other =
      "g (float[3,4] x) => (float[3,4] y) <float two = {2}, float eps = {1e-5}> {\n"
      "m = ReduceMean <axes = [0]> (x)  d = Sub(x, m)  p = Pow(d, two)\n"
      "v = ReduceMean <axes = [0]> (p)  e = Add(v, eps)  s = Sqrt(e)  y = Div(d, s) }";
  EXPECT_EQ(rewritten(17, other, Stage::kCanonical, {}, 1e-5).count("LayerNormalization"), 0);
  // Double would lose digits: statistics are float.
  const char* wide =
      "g (double[3,4] x) => (double[3,4] y) <double two = {2}, double eps = {1e-5}> {\n"
      "m = ReduceMean <axes = [-1]> (x)  d = Sub(x, m)  p = Pow(d, two)\n"
      "v = ReduceMean <axes = [-1]> (p)  e = Add(v, eps)  s = Sqrt(e)  y = Div(d, s) }";
  EXPECT_EQ(rewritten(17, wide, Stage::kCanonical, {}, 1e-12).count("LayerNormalization"), 0);
}

TEST(NormRules, RmsNorm) {
  const char* text =
      "g (float[N,4] x) => (float[N,4] y) <float two = {2}, float eps = {1e-5}, "
      "float[4] w = {1, -2, 0.5, 3}> {\n"
      "p = Pow(x, two)  v = ReduceMean <axes = [-1]> (p)  e = Add(v, eps)  s = Sqrt(e)\n"
      "r = Reciprocal(s)  n = Mul(x, r)  y = Mul(w, n) }";
  EXPECT_EQ(rewritten(17, text).count("RMSNormalization"), 0);
  EXPECT_EQ(rewritten(17, text, Stage::kFused, {}, 1e-5).nodes(), 1);
}

}  // namespace
}  // namespace sardonyx
