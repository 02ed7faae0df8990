#include "ops/resolve.h"

#include <gtest/gtest.h>

#include "ir/text_parse.h"
#include "ir/verify.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

const GraphValue& output(const Model& model, size_t i = 0) {
  return model.graph->value(model.graph->outputs()[i]);
}

std::string output_type(const Model& model, size_t i = 0) {
  return print_type(output(model, i).type, model.graph->dims());
}

std::vector<std::string> operators(const Model& model) {
  std::vector<std::string> names;
  for (NodeId id : model.graph->order()) names.push_back(model.graph->node(id).op);
  return names;
}

std::string error_of(std::string_view text) {
  const auto model = parse_model_text(text);
  try {
    inline_functions(*model);
    resolve_model(*model);
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + ": " + error.what();
  }
  return "no error";
}

TEST(Resolve, FollowsSizesThroughShapeArithmetic) {
  const auto model = parse_model_text(R"(
    <ir_version: 8, opset_import: ["": 13]>
    main (float[N,T,8,64] x, int64[1] width = {512}) => (float y)
        <int64 zero = {0}, int64 one = {1}, int64[1] front = {0}, int64[1] w = {512}> {
      s = Shape(x)
      n = Gather(s, zero)
      t = Gather(s, one)
      n1 = Unsqueeze(n, front)
      t1 = Unsqueeze(t, front)
      shape = Concat <axis = 0> (n1, t1, w)
      y = Reshape(x, shape)
    })");
  resolve_model(*model);
  EXPECT_EQ(output_type(*model), "float[N,T,512]");
}

TEST(Resolve, TrustsInferenceOverStaleDeclarations) {
  const auto model = parse_model_text(R"(
    <ir_version: 8, opset_import: ["": 13]>
    main (float[2,3] x) => (float[7,3] y) { y = Relu(x) })");
  resolve_model(*model);
  EXPECT_EQ(output_type(*model), "float[2,3]");
}

TEST(Resolve, KeepsDeclaredSizesWhereNothingIsInferred) {
  const auto model = parse_model_text(R"(
    <ir_version: 8, opset_import: ["": 13]>
    main (float x, int64[2] s) => (float[4,5] y) { y = Reshape(x, s) })");
  resolve_model(*model);
  EXPECT_EQ(output_type(*model), "float[4,5]");
}

TEST(Resolve, BindsEachNodeToTheVersionOfItsImport) {
  const auto model = parse_model_text(R"(
    <ir_version: 8, opset_import: ["": 9]>
    main (float[2] x) => (float[2] y) { y = Add(x, x) })");
  resolve_model(*model);
  EXPECT_EQ(model->graph->node(model->graph->order()[0]).version, 7);
}

TEST(Resolve, NamesWhatIsWrong) {
  EXPECT_NE(error_of(R"(<ir_version: 8, opset_import: ["": 13]>
    main (float[2] x) => (float[2] y) { [n] y = Gelu(x) })")
                .find("NotImplemented: operator 'Gelu' of domain ai.onnx (node 'n') came with "
                      "version 20, the model imports version 13"),
            std::string::npos);
  EXPECT_NE(error_of(R"(<ir_version: 8, opset_import: ["": 13]>
    main (float[2] x) => (float[2] y) { y = com.foo.Add(x, x) })")
                .find("NotImplemented: operator 'Add' of domain com.foo"),
            std::string::npos);
  EXPECT_NE(error_of(R"(<ir_version: 8, opset_import: ["": 13]>
    main (float[2] x) => (float[2] y) { y = Relu <alpha = 1> (x) })")
                .find("InvalidGraph: Relu"),
            std::string::npos);
}

TEST(Resolve, WarnsOfDeclarationsThatNodesDeny) {
  const auto model = parse_model_text(R"(
    <ir_version: 8, opset_import: ["": 13]>
    main (float[N,3] x) => (float[N,4] y, float[2] z, float[M,3] w, double[?,3] v) {
      y = Relu(x) z = Neg(x) w = Exp(x) v = Log(x) })");
  resolve_model(*model);
  const std::vector<std::string> expected = {
      "'y' is declared float[N,4], its node gives float[N,3]; the declaration is ignored",
      "'z' is declared float[2], its node gives float[N,3]; the declaration is ignored",
      "'v' is declared double[?,3], its node gives float[N,3]; the declaration is ignored"};
  EXPECT_EQ(model->warnings, expected);
}

TEST(Resolve, WarnsOfManyWrongDeclarationsInFewLines) {
  std::string nodes;
  std::string outputs;
  for (int i = 0; i < 30; ++i) {
    outputs += (i == 0 ? "float[7] y" : ", float[7] y") + std::to_string(i);
    nodes += " y" + std::to_string(i) + " = Relu(x)";
  }
  const auto model = parse_model_text("main (float[2] x) => (" + outputs + ") {" + nodes + " }");
  resolve_model(*model);
  ASSERT_EQ(model->warnings.size(), 9u);
  EXPECT_EQ(model->warnings[8],
            "22 more values are declared with types that their nodes do not give");
}

TEST(Resolve, UnknownAttributesWarnWhenLenient) {
  const auto model = parse_model_text(R"(
    <ir_version: 8, opset_import: ["": 13]>
    main (float[2] x) => (float[2] y) { y = Relu <alpha = 1> (x) })");
  resolve_model(*model, {.lenient_attributes = true});
  ASSERT_EQ(model->warnings.size(), 1u);
  EXPECT_NE(model->warnings[0].find("'alpha'"), std::string::npos);
}

TEST(InlineFunctions, SubstitutesAttributesAndBindsWithTheFunctionsImports) {
  const auto model = parse_model_text(R"(
    <ir_version: 8, opset_import: ["": 17, "local": 1]>
    main (float[2] x) => (float[2] y, float[2] z) {
      [a] y = local.Leaky <slope = 0.5> (x)
      [b] z = local.Leaky(x)
    }
    <domain: "local", opset_import: ["": 9]>
    Leaky <slope: float = 0.25> (v) => (w) {
      t = LeakyRelu <alpha: float = @slope> (v)
      w = Add(t, v)
    })");
  inline_functions(*model);
  EXPECT_TRUE(model->functions.empty());
  EXPECT_EQ(operators(*model), (std::vector<std::string>{"LeakyRelu", "Add", "LeakyRelu", "Add"}));
  const Graph& graph = *model->graph;
  const Node& first = graph.node(graph.order()[0]);
  EXPECT_EQ(first.version, 6);
  EXPECT_EQ(first.name, "a/LeakyRelu");
  EXPECT_EQ(first.attributes.get_float("alpha", 0), 0.5f);
  EXPECT_EQ(graph.node(graph.order()[2]).attributes.get_float("alpha", 0), 0.25f);
  resolve_model(*model);
  EXPECT_EQ(graph.node(graph.order()[1]).version, 7);
  EXPECT_EQ(output_type(*model, 1), "float[2]");
  verify(graph);
}

TEST(InlineFunctions, NestsAndPassesInputsThrough) {
  const auto model = parse_model_text(R"(
    <ir_version: 8, opset_import: ["": 17, "local": 1]>
    main (float[2] x) => (float[2] y, float[2] same) {
      y, same = local.Outer(x)
    }
    <domain: "local", opset_import: ["": 17, "local": 1]>
    Outer (v) => (w, v) { w = local.Inner(v, v) }
    <domain: "local", opset_import: ["": 17]>
    Inner (a, b, c) => (r) { r = Clip(a, c) })");
  inline_functions(*model);
  EXPECT_EQ(operators(*model), (std::vector<std::string>{"Identity", "Clip"}));
  resolve_model(*model);
  EXPECT_EQ(output_type(*model, 0), "float[2]");
  EXPECT_EQ(output_type(*model, 1), "float[2]");
  verify(*model->graph);
}

TEST(InlineFunctions, AFunctionWinsOverAnOperatorOfItsName) {
  const auto model = parse_model_text(R"(
    <ir_version: 8, opset_import: ["": 17]>
    main (float[2] x) => (float[2] y) { y = Relu(x) }
    <domain: "", opset_import: ["": 17]>
    Relu (v) => (w) { w = Neg(v) })");
  inline_functions(*model);
  EXPECT_EQ(operators(*model), (std::vector<std::string>{"Neg"}));
}

TEST(InlineFunctions, RefusesRecursion) {
  EXPECT_NE(error_of(R"(<ir_version: 8, opset_import: ["": 17, "local": 1]>
    main (float[2] x) => (float[2] y) { y = local.F(x) }
    <domain: "local", opset_import: ["local": 1]>
    F (v) => (w) { w = local.F(v) })")
                .find("more than 100 deep"),
            std::string::npos);
}

std::string calls_twice(int levels) {
  std::string text = R"(<ir_version: 8, opset_import: ["": 17, "local": 1]>
    main (float[2] x) => (float[2] y) { y = local.F0(x) })";
  const auto function = [&text](int i, const std::string& body) {
    text += "\n<domain: \"local\", opset_import: [\"\": 17, \"local\": 1]> F" + std::to_string(i) +
            " (v) => (w) { " + body + " }";
  };
  for (int i = 0; i < levels; ++i) {
    const std::string callee = "local.F" + std::to_string(i + 1);
    function(i, "t = " + callee + "(v)  w = " + callee + "(t)");
  }
  function(levels, "w = Neg(v)");
  return text;
}

TEST(InlineFunctions, NamesOfManyEqualCallsAreFoundInTimeThatGrowsWithTheirNumber) {
  const auto model = parse_model_text(calls_twice(14));
  inline_functions(*model);
  EXPECT_EQ(model->graph->order().size(), size_t{1} << 14);
  verify(*model->graph);
}

TEST(InlineFunctions, RefusesMoreNodesThanAnyModelNeeds) {
  EXPECT_NE(error_of(calls_twice(60)).find("inlining functions made more than 262144 nodes"),
            std::string::npos);
}

}  // namespace
}  // namespace sardonyx
