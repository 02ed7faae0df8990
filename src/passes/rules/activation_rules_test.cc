#include "passes/test_graphs.h"

namespace sardonyx {
namespace {

std::string unary(const std::string& type, const std::string& lines) {
  return "g (" + type + "[2,3,N] x) => (" + type + "[2,3,N] y) {\n" + lines + "}\n";
}

const char* const kHardSwishForms[] = {
    "a = Add(x, three)  c = Clip(a, zero, six)  m = Mul(x, c)  y = Div(m, six)",
    "a = Add(three, x)  c = Clip(a, zero, six)  m = Mul(c, x)  y = Mul(m, sixth)",
    "a = Add(x, three)  c = Clip(a, zero, six)  d = Div(c, six)  y = Mul(x, d)",
    "a = Add(x, three)  c = Clip(a, zero, six)  d = Mul(sixth, c)  y = Mul(d, x)",
    "a = Add(x, three)  c = Clip(a, zero, six)  d = Div(x, six)  y = Mul(d, c)",
    "h = HardSigmoid <alpha = 0.16666667, beta = 0.5> (x)  y = Mul(x, h)",
};

std::string with_constants(const std::string& lines) {
  return "g (float[2,3,N] x) => (float[2,3,N] y) <float three = {3}, float zero = {0}, "
         "float[1] six = {6}, float sixth = {0.16666667}> {\n" +
         lines + "\n}\n";
}

TEST(ActivationRules, HardSwishInEveryOrder) {
  for (const char* form : kHardSwishForms) {
    const Rewritten result = rewritten(14, with_constants(form));
    EXPECT_EQ(result.nodes(), 1) << form << "\n" << result.report.print();
    EXPECT_EQ(result.only("HardSwish").version, 14);
    EXPECT_EQ(result.report.applied("hard_swish"), 1);
  }
}

TEST(ActivationRules, HardSwishWaitsForTheFusedStageAtOldOpsets) {
  for (const char* form : kHardSwishForms) {
    const Rewritten early = rewritten(13, with_constants(form));
    EXPECT_EQ(early.count("HardSwish"), 0);
    EXPECT_EQ(early.report.find("hard_swish")->rejected.count("opset"), 1u);
    const Rewritten late = rewritten(13, with_constants(form), Stage::kFused);
    EXPECT_EQ(late.nodes(), 1);
    EXPECT_EQ(late.only("HardSwish").version, 14);
  }
}

TEST(ActivationRules, HardSwishWithClipAttributes) {
  const Rewritten result = rewritten(
      10,
      with_constants("a = Add(x, three)  c = Clip <min = 0.0, max = 6.0> (a)  m = Mul(x, c) "
                     "y = Div(m, six)"),
      Stage::kFused);
  EXPECT_EQ(result.only("HardSwish").version, 14);
}

TEST(ActivationRules, HardSwishNot) {
  // Another constant.
  EXPECT_EQ(rewritten(14, with_constants("a = Add(x, three)  c = Clip(a, zero, three) "
                                         "m = Mul(x, c)  y = Div(m, six)"))
                .count("HardSwish"),
            0);
  // Another value is multiplied.
  EXPECT_EQ(rewritten(14,
                      "g (float[2,N] x, float[2,N] z) => (float[2,N] y) <float three = {3}, "
                      "float zero = {0}, float six = {6}> { a = Add(x, three) "
                      "c = Clip(a, zero, six)  m = Mul(z, c)  y = Div(m, six) }")
                .count("HardSwish"),
            0);
  // Two users of an inner value.
  const Rewritten shared = rewritten(
      14,
      "g (float[2,N] x) => (float[2,N] y, float[2,N] z) <float three = {3}, float zero = {0}, "
      "float six = {6}> { a = Add(x, three)  c = Clip(a, zero, six)  m = Mul(x, c) "
      "y = Div(m, six)  z = Neg(m) }");
  EXPECT_EQ(shared.count("HardSwish"), 0);
  EXPECT_EQ(shared.report.find("hard_swish")->rejected.count("inner value is used elsewhere"), 1u);
  // An inner value is an output of the graph.
  EXPECT_EQ(rewritten(14,
                      "g (float[2,N] x) => (float[2,N] y, float[2,N] c) <float three = {3}, "
                      "float zero = {0}, float six = {6}> { a = Add(x, three) "
                      "c = Clip(a, zero, six)  m = Mul(x, c)  y = Div(m, six) }")
                .count("HardSwish"),
            0);
  // Integers have no HardSwish.
  EXPECT_EQ(rewritten(14,
                      "g (int32[2,N] x) => (int32[2,N] y) <int32 three = {3}, int32 zero = {0},"
                      " int32 six = {6}> { a = Add(x, three)  c = Clip(a, zero, six) "
                      "m = Mul(x, c)  y = Div(m, six) }")
                .count("HardSwish"),
            0);
}

TEST(ActivationRules, HardSigmoid) {
  for (const char* form : {
           "a = Add(x, three)  c = Clip(a, zero, six)  y = Div(c, six)",
           "a = Add(x, three)  c = Clip(a, zero, six)  y = Mul(c, sixth)",
       }) {
    const Rewritten result = rewritten(13, with_constants(form));
    const Node& node = result.only("HardSigmoid");
    EXPECT_NEAR(node.attributes.get_float("alpha", 0), 1.0 / 6, 1e-6);
    EXPECT_NEAR(node.attributes.get_float("beta", 0), 0.5, 1e-6);
    EXPECT_EQ(result.nodes(), 1);
  }
  const std::string scaled =
      "g (float[2,N] x) => (float[2,N] y) <float a = {0.2}, float five = {5}, float half = {0.4}, "
      "float zero = {0}, float one = {1}> {\n";
  EXPECT_EQ(rewritten(13, scaled + "m = Mul(x, a)  s = Add(m, half)  y = Clip(s, zero, one) }")
                .count("HardSigmoid"),
            1);
  EXPECT_EQ(rewritten(13, scaled + "m = Div(x, five)  s = Add(half, m)  y = Clip(s, zero, one) }")
                .count("HardSigmoid"),
            1);
  EXPECT_EQ(rewritten(13, scaled + "m = Mul(x, a)  s = Add(m, half)  y = Clip(s, zero, five) }")
                .count("HardSigmoid"),
            0);
}

TEST(ActivationRules, Swish) {
  const std::string silu = unary("float", "s = Sigmoid(x)  y = Mul(s, x)");
  EXPECT_EQ(rewritten(17, silu).count("Swish"), 0);
  EXPECT_EQ(rewritten(24, silu).count("Swish"), 1);
  EXPECT_EQ(rewritten(17, silu, Stage::kFused).only("Swish").version, 24);
  const Rewritten quick = rewritten(
      17,
      "g (float[2,N] x) => (float[2,N] y) <float f = {1.702}> { m = Mul(x, f)  s = Sigmoid(m) "
      "y = Mul(x, s) }",
      Stage::kFused);
  EXPECT_NEAR(quick.only("Swish").attributes.get_float("alpha", 0), 1.702, 1e-6);
  EXPECT_EQ(
      rewritten(17, unary("float16", "s = Sigmoid(x)  y = Mul(s, x)"), Stage::kFused, {}, 2e-3)
          .count("Swish"),
      1);
}

TEST(ActivationRules, Mish) {
  EXPECT_EQ(rewritten(18, unary("float", "s = Softplus(x)  t = Tanh(s)  y = Mul(x, t)")).nodes(),
            1);
}

TEST(ActivationRules, LeakyRelu) {
  const Rewritten leaky = rewritten(
      16, "g (float[2,3,N] x) => (float[2,3,N] y) <float[1,1] s = {0.1}> { y = PRelu(x, s) }");
  EXPECT_NEAR(leaky.only("LeakyRelu").attributes.get_float("alpha", 0), 0.1, 1e-7);
  EXPECT_EQ(rewritten(16,
                      "g (float[2,2] x) => (float[2,2] y) <float[2] s = {0.1, 0.2}> "
                      "{ y = PRelu(x, s) }")
                .count("LeakyRelu"),
            0);
}

TEST(ActivationRules, ReluStaysBeforeAClipWithALimitThatIsNoNumber) {
  const auto clips = [](const std::string& low) {
    return rewritten(13, "g (float[2,3,N] x) => (float[2,3,N] y) <float low = {" + low +
                             "}, float high = {1}> { r = Relu(x)  y = Clip(r, low, high) }");
  };
  EXPECT_EQ(clips("-1").nodes(), 1);
  EXPECT_EQ(clips("nan").nodes(), 2);  // max(0, nan) would lose the zero
}

}  // namespace
}  // namespace sardonyx
