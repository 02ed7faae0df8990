#include "ir/text_print.h"

#include <gtest/gtest.h>

#include "ir/text_parse.h"
#include "ir/verify.h"

namespace sardonyx {
namespace {

void expect_stable(std::string_view text) {
  const auto first = parse_model_text(text);
  verify(*first->graph);
  const std::string once = print(*first);
  const auto second = parse_model_text(once);
  verify(*second->graph);
  EXPECT_EQ(print(*second), once);
}

TEST(TextPrint, PrintsAModelTheStandardWay) {
  const char* text = R"(<
  ir_version: 8,
  opset_import: ["": 17, "com.foo": 1],
  producer_name: "p",
  metadata_props: ["k": "v"]
>
g (float[N,3] x, float[3] w = float[3] {1, 2, 3}) => (float[N,3] y) <
  float[1] c = {2},
  float[N,3] t
> {
  t = Add(x, w)
  [conv1] y = com.foo.Conv <kernel_shape = [3, 3], alpha = 1.0, auto_pad = "SAME_UPPER"> (t, , c, "")
}
)";
  EXPECT_EQ(print(*parse_model_text(text)), text);
}

TEST(TextPrint, KeepsEveryKindOfAttribute) {
  expect_stable(R"(g (float x) => (y) { y = d.Op:over <
    i = -3, f = 0.1, n = nan, m = -inf, s = "a\"b", is: ints = [], fs: floats = [1, 2], ss = ["", "b"],
    t = float16[2] {1, 2}, ts = [int4[3] {1, 2, 3}, bool {1}], sp = sparse[4,4] (float[1] {2}, int64[1] {5}),
    tp: type_proto = seq(float[N]), tps: type_protos = [float, map(string,int64[])], es: strings = [],
    g = inner (float a) => (float b) { b = Neg(a) },
    gs = [one () => (o) { o = Neg(x) }, two () => (o) <int64[] o = {1}> { }]>(x) })");
}

TEST(TextPrint, KeepsSubgraphsAndTheirCaptures) {
  const auto model = parse_model_text(R"(g (float[N] x, bool c) => (z) {
    t = Neg(x)
    z = If(c) <then_branch = a () => (r) { r = If(c) <then_branch = b () => (q) { q = Add(t, x) }> },
               else_branch = e () => (r) { r = Identity(x) }>
  })");
  const Graph& main = *model->graph;
  const Node& holder = main.node(main.order()[1]);
  ASSERT_EQ(holder.captures.size(), 3u);  // c, t and x pass through the middle graph
  const auto& middle = std::get<std::shared_ptr<Graph>>(*holder.attributes.find("then_branch"));
  EXPECT_EQ(middle->captures().size(), 3u);
  expect_stable(print(*model));
}

TEST(TextPrint, QuotesOddNamesAndNamesTheNameless) {
  Graph graph;
  graph.name = "1st/graph";
  const ValueId x = graph.add_input(
      "/x:0", ValueType::tensor(DataType::kFloat, Dims{graph.dims().symbol("batch size")}));
  const ValueId y = graph.add_value("");
  const ValueId z = graph.add_value("v1");
  Node neg;
  neg.op = "Neg";
  neg.inputs = {x};
  neg.outputs = {y};
  graph.add_node(neg);
  neg.inputs = {y};
  neg.outputs = {z};
  graph.add_node(neg);
  graph.add_output(z);
  EXPECT_EQ(print(graph),
            "\"1st/graph\" (float[\"batch size\"] \"/x:0\") => (v1) {\n"
            "  v1_1 = Neg(\"/x:0\")\n"
            "  v1 = Neg(v1_1)\n}\n");
  expect_stable(print(graph));
}

TEST(TextPrint, InnerNamesGiveWayToOuterOnes) {
  const auto model = parse_model_text(R"(g (float x, bool c) => (z) {
    z = If(c) <then_branch = a () => (y) { y = Neg(x) }>
  })");
  Graph& main = *model->graph;
  main.value(main.inputs()[0]).name = "y";
  const std::string text = print(*model);
  EXPECT_NE(text.find("y_1 = Neg(y)"), std::string::npos) << text;
  expect_stable(text);
}

TEST(TextPrint, KeepsFunctions) {
  const auto model = parse_model_text(R"(<ir_version: 8, opset_import: ["": 17, "local": 1]>
    g (float x) => (y) { y = local.f <alpha = 2.0> (x) }
    <domain: "local", opset_import: ["": 17], overload: "v2">
    f <alpha, beta = 0.5> (a) => (b) { b = Selu <alpha: float = @alpha, gamma: float = @beta> (a) })");
  ASSERT_EQ(model->functions.size(), 1u);
  EXPECT_EQ(model->functions[0].attributes, std::vector<std::string>{"alpha"});
  EXPECT_EQ(model->functions[0].attribute_defaults.get_float("beta", 0), 0.5f);
  const std::string once = print(*model);
  EXPECT_EQ(print(*parse_model_text(once)), once);
}

TEST(TextPrint, ShortensTensorsAndLeavesTypesOut) {
  const auto model = parse_model_text(
      "g () => (y) <float[3] c = {1, 2, 3}, float[3] t> { t = Neg(c) y = Neg(t) }");
  PrintOptions options;
  options.value_types = false;
  options.max_elements = 1;
  EXPECT_EQ(print(*model->graph, options),
            "g () => (y) <\n  float[3] c = {1, # 2 more\n}\n> {\n  t = Neg(c)\n  y = Neg(t)\n}\n");
}

}  // namespace
}  // namespace sardonyx
