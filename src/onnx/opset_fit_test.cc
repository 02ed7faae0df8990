#include "onnx/opset_fit.h"

#include <gtest/gtest.h>

#include "ir/text_parse.h"
#include "onnx/reader.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

struct FitCase {
  const char* name;
  std::vector<int> versions;  // of the nodes A, B, C: 0 when not bound
  bool with_table;            // is bound_version given?
  int64_t expected;           // import of the written model; 0: an error
};

class OpsetFitTest : public ::testing::TestWithParam<FitCase> {};

// A changed in 1 and 18, B in 13, C in 6 and 17.
int bound_version(const Node& node, int64_t import) {
  const auto newest = [&](std::initializer_list<int> versions) {
    int found = 0;
    for (int version : versions) found = version <= import ? version : found;
    return found;
  };
  if (node.op == "A") return newest({1, 18});
  if (node.op == "B") return newest({13});
  return newest({6, 17});
}

TEST_P(OpsetFitTest, RaisesTheImportWhenNothingElseChanges) {
  const auto model = parse_model_text(R"(<ir_version: 8, opset_import: ["": 16]>
    g (float x) => (z) { a = A(x) b = B(a) z = If(x) <then_branch = t () => (c) { c = C(b) }> })");
  Graph& graph = *model->graph;
  Node& holder = graph.node(graph.order()[2]);
  auto& inner = *std::get<std::shared_ptr<Graph>>(*holder.attributes.find("then_branch"));
  const std::vector<int>& versions = GetParam().versions;
  graph.node(graph.order()[0]).version = versions[0];
  graph.node(graph.order()[1]).version = versions[1];
  inner.node(inner.order()[0]).version = versions[2];
  holder.op = "B";
  holder.version = versions[1];
  WriteOptions options;
  if (GetParam().with_table) options.bound_version = bound_version;
  if (GetParam().expected == 0) {
    try {
      write_model(*model, options);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidGraph);
      EXPECT_NE(std::string(error.what()).find("does not fit"), std::string::npos) << error.what();
    }
    return;
  }
  const auto again = read_model(write_model(*model, options), nullptr);
  EXPECT_EQ(again->opset_imports.at(""), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(OpsetFit, OpsetFitTest,
                         ::testing::Values(FitCase{"Unbound", {0, 0, 0}, false, 16},
                                           FitCase{"Older", {1, 13, 6}, false, 16},
                                           FitCase{"AllAreNew", {18, 18, 18}, false, 18},
                                           FitCase{"OneIsNew", {18, 13, 6}, false, 0},
                                           FitCase{"OneIsNewAndOneUnbound", {18, 0, 18}, false, 0},
                                           FitCase{"OlderByTheTable", {1, 13, 6}, true, 16},
                                           FitCase{"OthersStay", {18, 13, 17}, true, 18},
                                           FitCase{"UnboundOneStays", {18, 0, 17}, true, 18},
                                           FitCase{"AnotherWouldChange", {18, 13, 6}, true, 0},
                                           FitCase{"UnboundOneWouldChange", {18, 13, 0}, true, 0},
                                           FitCase{"OlderThanTheImportGives", {1, 13, 1}, true, 0}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(OpsetFit, NewDomainsAreImportedAndCallsFitAnyImport) {
  const auto model = parse_model_text(R"(<ir_version: 8, opset_import: ["": 16, "local": 1]>
    g (float x) => (z) { a = local.f(x) b = local.Op(a) z = new.Op(b) }
    <domain: "local", opset_import: ["": 16]> f (x) => (y) { y = Neg(x) })");
  Graph& graph = *model->graph;
  graph.node(graph.order()[1]).version = 2;
  graph.node(graph.order()[2]).version = 5;
  Graph& body = *model->functions[0].body;
  body.node(body.order()[0]).version = 17;
  const auto again = read_model(write_model(*model), nullptr);
  EXPECT_EQ(again->opset_imports, (OpsetImports{{"", 16}, {"local", 2}, {"new", 5}}));
  EXPECT_EQ(again->functions[0].opset_imports, (OpsetImports{{"", 17}}));
}

}  // namespace
}  // namespace sardonyx
