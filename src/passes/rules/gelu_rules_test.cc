#include "passes/test_graphs.h"

namespace sardonyx {
namespace {

std::string gelu(const std::string& lines, const std::string& type = "float") {
  return "g (" + type + "[2,N] x) => (" + type + "[2,N] y) <" + type + " root2 = {1.41421354}, " +
         type + "[1] rroot2 = {0.707106769}, " + type + " one = {1}, " + type + " half = {0.5}, " +
         type + " two = {2}, " + type + " three = {3}, " + type + " cubic = {0.044715}, " + type +
         " rpi = {0.797884583}> {\n" + lines + "\n}\n";
}

TEST(GeluRules, ErfInEveryOrder) {
  for (const char* form : {
           "d = Div(x, root2)  e = Erf(d)  a = Add(e, one)  m = Mul(x, a)  y = Mul(m, half)",
           "d = Mul(x, rroot2)  e = Erf(d)  a = Add(one, e)  m = Mul(a, x)  y = Mul(half, m)",
           "d = Div(x, root2)  e = Erf(d)  a = Add(e, one)  h = Mul(x, half)  y = Mul(h, a)",
           "d = Div(x, root2)  e = Erf(d)  a = Add(e, one)  h = Mul(a, half)  y = Mul(x, h)",
           "d = Div(x, root2)  e = Erf(d)  a = Add(e, one)  m = Mul(x, a)  y = Div(m, two)",
       }) {
    const Rewritten standard = rewritten(20, gelu(form));
    EXPECT_EQ(standard.nodes(), 1) << form << "\n" << standard.report.print();
    EXPECT_EQ(standard.count("Gelu"), 1);
    EXPECT_EQ(rewritten(13, gelu(form)).count("Gelu"), 0);
    EXPECT_EQ(rewritten(13, gelu(form), Stage::kFused).only("Gelu").version, 20);
  }
  EXPECT_EQ(rewritten(20,
                      gelu("d = Div(x, root2)  e = Erf(d)  a = Add(e, one)  m = Mul(x, a) "
                           "y = Mul(m, half)",
                           "float16"),
                      Stage::kCanonical, {}, 5e-3)
                .count("Gelu"),
            1);
}

TEST(GeluRules, TanhInEveryOrder) {
  for (const char* form : {
           "p = Pow(x, three)  c = Mul(p, cubic)  s = Add(x, c)  i = Mul(s, rpi)  t = Tanh(i) "
           "a = Add(t, one)  h = Mul(x, half)  y = Mul(h, a)",
           "q = Mul(x, x)  p = Mul(x, q)  c = Mul(cubic, p)  s = Add(c, x)  i = Mul(rpi, s) "
           "t = Tanh(i)  a = Add(one, t)  m = Mul(x, a)  y = Mul(half, m)",
           "q = Mul(cubic, x)  p = Mul(x, q)  c = Mul(x, p)  s = Add(x, c)  i = Mul(rpi, s) "
           "t = Tanh(i)  a = Add(one, t)  h = Mul(half, a)  y = Mul(x, h)",
           "q = Mul(x, x)  c = Mul(q, cubic)  o = Add(c, one)  z = Mul(x, rpi)  i = Mul(z, o) "
           "t = Tanh(i)  a = Add(one, t)  m = Mul(x, a)  y = Mul(half, m)",
       }) {
    const Rewritten result = rewritten(20, gelu(form));
    EXPECT_EQ(result.nodes(), 1) << form << "\n" << result.report.print();
    EXPECT_EQ(result.only("Gelu").attributes.get_string("approximate", ""), "tanh");
  }
}

TEST(GeluRules, Not) {
  EXPECT_EQ(rewritten(20, gelu("d = Div(x, two)  e = Erf(d)  a = Add(e, one)  m = Mul(x, a) "
                               "y = Mul(m, half)"))
                .count("Gelu"),
            0);
  EXPECT_EQ(rewritten(20, gelu("d = Div(x, root2)  e = Erf(d)  a = Add(e, two)  m = Mul(x, a) "
                               "y = Mul(m, half)"))
                .count("Gelu"),
            0);
}

}  // namespace
}  // namespace sardonyx
