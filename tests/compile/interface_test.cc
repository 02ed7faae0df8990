// The EPContext node stands for its part: inputs and outputs belong together by position, whatever
// their names, and the model's file may not say otherwise of them than the part.
#include <gtest/gtest.h>

#include "onnx/reader.h"
#include "sardonyx/compile.h"
#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

using Floats = std::vector<float>;
using Change = std::function<void(Graph&, Node&)>;

class CompiledInterface : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("m.onnx", model_bytes(R"(m (float[N,2] a, float[N,2] b, float[2] w = {10, 20})
        => (float[N,2] d, float[N,2] s) { d = Sub(a, b) t = Add(a, b) s = Add(t, w) })"));
  }

  // Compiles and rewrites the ONNX file after `change`.
  std::filesystem::path changed(const Change& change) const {
    CompileOptions options;
    options.overwrite = true;
    const std::filesystem::path path = folder_ / "m_ctx.onnx";
    compile(folder_ / "m.onnx", path, options);
    const std::unique_ptr<Model> model = read_model(path.string());
    Graph& graph = *model->graph;
    const NodeId id = graph.order()[0];
    Node node = graph.node(id);
    graph.remove_node(id);
    change(graph, node);
    graph.add_node(std::move(node));
    write_model(*model, path.string());
    return path;
  }

  TemporaryFolder folder_;
};

TEST_F(CompiledInterface, NodesTakeAndMakeValuesByPosition) {
  struct Row {
    const char* name;
    Change change;
    Floats d, s;
  };
  const Row rows[] = {
      {"as it is", [](Graph&, Node&) {}, {-3, -5}, {15, 29}},
      {"inputs swapped",
       [](Graph&, Node& node) { std::swap(node.inputs[0], node.inputs[1]); },
       {3, 5},
       {15, 29}},
      {"outputs swapped",
       [](Graph&, Node& node) { std::swap(node.outputs[0], node.outputs[1]); },
       {15, 29},
       {-3, -5}},
      {"one input twice",
       [](Graph&, Node& node) { node.inputs[1] = node.inputs[0]; },
       {0, 0},
       {12, 24}},
      {"other names",
       [](Graph& graph, Node& node) {
         graph.value(node.inputs[0]).name = "b2";
         graph.value(node.outputs[1]).name = "s2";
       },
       {-3, -5},
       {15, 29}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const Session session(changed(row.change));
    ASSERT_EQ(session.inputs().size(), 3u);
    EXPECT_EQ(session.inputs()[0].type, "float[N,2]");
    EXPECT_TRUE(session.inputs()[2].is_optional) << "it keeps its default";
    EXPECT_EQ(session.outputs()[1].type, "float[N,2]");
    if (std::string_view(row.name) == "other names") {
      EXPECT_EQ(session.inputs()[0].name, "b2");
      EXPECT_EQ(session.outputs()[1].name, "s2");
    }
    const std::vector<Value> results =
        session.run(std::vector<Value>{floats({1, 2}, {1, 2}), floats({1, 2}, {4, 7}), Value()});
    EXPECT_EQ(to_vector(results[0]), row.d);
    EXPECT_EQ(to_vector(results[1]), row.s);
  }
}

TEST_F(CompiledInterface, WhatDoesNotFitIsRefused) {
  const auto declare = [](size_t i, ValueType type) {
    return [i, type](Graph& graph, Node&) { graph.value(graph.inputs()[i]).type = type; };
  };
  struct Row {
    const char* name;
    Change change;
    Strings words;
  };
  const Row rows[] = {
      {"another element type",
       declare(0, ValueType::tensor(DataType::kInt64, Dims{Dim(), Dim(2)})),
       {"'a'", "float[N,2]"}},
      {"another rank",
       declare(1, ValueType::tensor(DataType::kFloat, Dims{Dim(2)})),
       {"'b'", "float[N,2]"}},
      {"a higher rank",
       declare(1, ValueType::tensor(DataType::kFloat, Dims{Dim(), Dim(2), Dim()})),
       {"'b'", "float[N,2]"}},
      {"another size",
       declare(2, ValueType::tensor(DataType::kFloat, Dims{Dim(3)})),
       {"'w'", "float[2]"}},
      {"a sequence",
       declare(0, ValueType::sequence(ValueType::tensor(DataType::kFloat))),
       {"'a'", "float[N,2]"}},
      {"inputs of other types swapped",
       [](Graph&, Node& node) { std::swap(node.inputs[0], node.inputs[2]); },
       {"'w'", "float[N,2]"}},
      {"an input less", [](Graph&, Node& node) { node.inputs.resize(2); }, {"has 2 inputs", "3"}},
      {"an input without a name",
       [](Graph&, Node& node) { node.inputs[0] = ValueId::kNone; },
       {"input 0 has no name"}},
      {"an output less",
       [](Graph& graph, Node& node) {
         node.outputs.resize(1);
         graph.set_output(1, node.outputs[0]);
       },
       {"has 1 outputs", "2"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    expect_mentions(
        message_of(ErrorCode::kInvalidGraph, [&] { Session session(changed(row.change)); }),
        row.words);
    expect_mentions(check_compatibility(folder_ / "m_ctx.onnx").reason, row.words);
  }
}

TEST_F(CompiledInterface, WhatTheFileLeavesOpenIsNoContradiction) {
  for (const ValueType& type : {ValueType::tensor(DataType::kFloat, Dims{Dim(), Dim()}),
                                ValueType::tensor(DataType::kFloat),
                                ValueType::tensor(DataType::kFloat, Dims{Dim(7), Dim(2)})}) {
    const Session session(
        changed([&](Graph& graph, Node&) { graph.value(graph.inputs()[0]).type = type; }));
    EXPECT_EQ(session.inputs()[0].type, "float[N,2]") << "what the part says holds";
  }
}

// Sequences and optionals are compared by what they hold.
TEST_F(CompiledInterface, SequencesKeepTheirTypes) {
  folder_.write("m.onnx", model_bytes(R"(m (seq(float[2]) a, seq(float[2]) b, int64[] i)
      => (float[2] y) { p = SequenceAt(a, i) q = SequenceAt(b, i) y = Sub(p, q) })"));
  const Session session(
      changed([](Graph&, Node& node) { std::swap(node.inputs[0], node.inputs[1]); }));
  EXPECT_EQ(session.inputs()[1].type, "seq(float[2])");
  EXPECT_EQ(session.inputs()[1].name, "b");
  const Change other = [](Graph& graph, Node&) {
    graph.value(graph.inputs()[0]).type = ValueType::sequence(ValueType::tensor(DataType::kInt64));
  };
  expect_mentions(message_of(ErrorCode::kInvalidGraph, [&] { Session again(changed(other)); }),
                  {"'a'", "seq(float[2])"});
}

}  // namespace
}  // namespace sardonyx
