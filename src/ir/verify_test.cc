#include "ir/verify.h"

#include <gtest/gtest.h>

#include "ir/text_parse.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

std::string fault_of(const Graph& graph) {
  try {
    verify(graph);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidGraph);
    return error.what();
  }
  return "";
}

void expect_fault(const Graph& graph, const char* part) {
  const std::string fault = fault_of(graph);
  EXPECT_NE(fault.find(part), std::string::npos) << "found instead: " << fault;
}

std::unique_ptr<Model> sample() {
  return parse_model_text(R"(g (float[N] x, bool c) => (float[N] z) <float[1] k = {2}> {
    t = Add(x, k)
    y = If(c) <then_branch = a () => (float r) { r = Neg(t) },
               else_branch = b () => (float r) { r = If(c) <then_branch = d () => (float q) { q = Abs(x) }> }>
    z = Mul(y, t)
  })");
}

TEST(Verify, AcceptsAGoodGraph) { EXPECT_EQ(fault_of(*sample()->graph), ""); }

TEST(Verify, AcceptsEditsMadeThroughMethods) {
  auto model = sample();
  Graph& graph = *model->graph;
  const NodeId add = graph.order()[0];
  const ValueId t = graph.node(add).outputs[0];
  graph.replace_uses(t, graph.inputs()[0]);
  graph.remove_node(add);
  EXPECT_EQ(fault_of(graph), "");
}

TEST(Verify, FindsUseBeforeDefinition) {
  auto model = sample();
  Graph& graph = *model->graph;
  graph.set_input(graph.order()[0], 0, graph.outputs()[0]);
  expect_fault(graph, "before Mul");
}

TEST(Verify, FindsTwoDefinitions) {
  auto model = sample();
  Graph& graph = *model->graph;
  Node twice;
  twice.op = "Neg";
  twice.inputs = {graph.inputs()[0]};
  twice.outputs = {graph.node(graph.order()[0]).outputs[0]};
  graph.add_node(twice);
  EXPECT_NE(fault_of(graph), "");
}

TEST(Verify, FindsWrongUsers) {
  auto model = sample();
  Graph& graph = *model->graph;
  graph.value(graph.inputs()[0]).users.clear();
  expect_fault(graph, "lists 0 uses, nodes have 2");
}

TEST(Verify, FindsDeletedAndMissingValues) {
  auto model = sample();
  Graph& graph = *model->graph;
  graph.value(graph.outputs()[0]).alive = false;
  expect_fault(graph, "deleted value 'z'");
  model = sample();
  model->graph->add_output(static_cast<ValueId>(99));
  expect_fault(*model->graph, "value 99");
  model = sample();
  model->graph->add_output(model->graph->add_value("nowhere"));
  expect_fault(*model->graph, "'nowhere' of the graph is defined nowhere");
}

TEST(Verify, FindsACaptureOutOfRange) {
  auto model = sample();
  Graph& graph = *model->graph;
  Node& holder = graph.node(graph.order()[1]);
  for (ValueId id : holder.captures) {
    auto& users = graph.value(id).users;
    users.erase(std::find(users.begin(), users.end(), graph.order()[1]));
  }
  holder.captures.clear();
  expect_fault(graph, "0 implicit inputs");
}

TEST(Verify, FindsRepeatedNames) {
  auto model = sample();
  model->graph->add_constant("x", Tensor::of_int64(std::vector<int64_t>{1}));
  expect_fault(*model->graph, "two values have the name 'x'");
}

}  // namespace
}  // namespace sardonyx
