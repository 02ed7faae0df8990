#include "onnx/reader.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/staged_file.h"
#include "ir/text_print.h"
#include "ir/verify.h"
#include "onnx/proto_builders.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

using proto::Message;

std::unique_ptr<Model> read(const Message& message, const ReadOptions& options = {}) {
  auto model = read_model(message.result(), nullptr, options);
  verify(*model->graph);
  for (const Function& function : model->functions) verify(*function.body);
  return model;
}

std::string fault_of(const Message& message, const ReadOptions& options = {}) {
  try {
    read(message, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

void expect_fault(const Message& message, const char* part) {
  const std::string fault = fault_of(message);
  EXPECT_NE(fault.find(part), std::string::npos) << "found instead: " << fault;
}

const Node& node_at(const Graph& graph, size_t i) { return graph.node(graph.order()[i]); }

const Graph& subgraph_of(const Node& node, const char* attribute) {
  return *std::get<std::shared_ptr<Graph>>(*node.attributes.find(attribute));
}

TEST(Reader, ReadsASmallModel) {
  Message m = proto::model(proto::small_graph());
  m.text(2, "maker");
  m.varint(5, 3);
  m.message(14, proto::entry("key", "value"));
  m.text(99, "from the future");
  const auto model = read(m);
  EXPECT_EQ(model->ir_version, 8);
  EXPECT_EQ(model->opset_imports.at(""), 17);
  EXPECT_EQ(model->producer_name, "maker");
  EXPECT_EQ(model->model_version, 3);
  EXPECT_EQ(model->metadata[0].second, "value");
  EXPECT_TRUE(model->warnings.empty());
  EXPECT_EQ(print(*model->graph),
            "g (float[batch,3] x) => (float[\"batch#1\",3] y) {\n  y = Relu(x)\n}\n");
}

TEST(Reader, EveryInputDimensionIsASymbolOfItsOwn) {
  Message g = proto::small_graph();
  g.message(11, proto::value("ids", 7, {"batch", "batch", -1, 0, ""}));
  const auto model = read(proto::model(g));
  const Graph& graph = *model->graph;
  EXPECT_EQ(print_type(graph.value(graph.inputs()[1]).type, graph.dims()),
            "int64[\"batch#1\",\"batch#2\",\"#ids_2\",0,\"#ids_4\"]");
}

TEST(Reader, DimensionsInsideAreUnknownUnlessNumbers) {
  Message g = proto::small_graph();
  g.message(1, proto::node("Neg", {"x"}, {"t"}));
  g.message(13, proto::value("t", 1, {"batch", 3}));
  g.message(13, proto::value("nobody", 1, {1}));
  const auto model = read(proto::model(g));
  const Graph& graph = *model->graph;
  EXPECT_EQ(print_type(graph.value(node_at(graph, 1).outputs[0]).type, graph.dims()), "float[?,3]");
}

TEST(Reader, InitializersThatAreInputsDependOnTheVersion) {
  Message g;
  g.text(2, "g");
  g.message(1, proto::node("Add", {"x", "w"}, {"y"}));
  g.message(5, proto::float_tensor("w", {1}, {2}));
  g.message(11, proto::value("x", 1, {1}));
  g.message(11, proto::value("w", 1, {1}));
  g.message(12, proto::value("y", 1, {1}));
  const auto modern = read(proto::model(g, 4));
  ASSERT_EQ(modern->graph->inputs().size(), 2u);
  EXPECT_FALSE(modern->graph->input_default(0).is_defined());
  EXPECT_EQ(print_tensor(modern->graph->input_default(1)), "float[1] {2}");
  const auto old = read(proto::model(g, 3));
  ASSERT_EQ(old->graph->inputs().size(), 1u);
  EXPECT_TRUE(old->graph->value(node_at(*old->graph, 0).inputs[1]).is_constant());
}

TEST(Reader, SparseInitializersBecomeDenseConstants) {
  Message indices = proto::tensor("i", 7, {1});
  indices.varint(7, 2);
  Message sparse;
  sparse.message(1, proto::float_tensor("w", {1}, {5}));
  sparse.message(2, indices);
  sparse.varint(3, 3);
  Message g = proto::small_graph();
  g.message(15, sparse);
  g.message(12, proto::value("w", 1, {3}));
  const auto model = read(proto::model(g));
  EXPECT_EQ(print_tensor(model->graph->value(model->graph->outputs()[1]).constant),
            "float[3] {0, 0, 5}");
  Message huge;
  huge.message(1, proto::float_tensor("w", {1}, {5}));
  huge.message(2, indices);
  huge.varint(3, uint64_t{1} << 40);
  Message bad = proto::small_graph();
  bad.message(15, huge);
  expect_fault(proto::model(bad), "the limit is");
}

// If in If in If; the innermost uses x of the main graph.
Message nested_if(int depth) {
  Message g;
  g.text(2, "b" + std::to_string(depth));
  Message node = depth == 0 ? proto::node("Neg", {"x"}, {"r"}) : proto::node("If", {"c"}, {"r"});
  if (depth != 0) node.message(5, proto::graph_attribute("then_branch", nested_if(depth - 1)));
  g.message(1, node);
  g.message(12, proto::value("r", 1, {1}));
  return g;
}

Message with_condition(Message g) {
  g.message(11, proto::value("x", 1, {1}));
  g.message(11, proto::value("c", 9, {}));
  return g;
}

TEST(Reader, CapturesPassThroughEveryGraphOnTheWay) {
  const auto model = read(proto::model(with_condition(nested_if(3))));
  const Graph* graph = model->graph.get();
  for (int level = 3; level > 0; --level) {
    const Node& holder = node_at(*graph, 0);
    const Graph& inner = subgraph_of(holder, "then_branch");
    const size_t expected = level == 1 ? 1 : 2;  // x, and c while there is an If inside
    ASSERT_EQ(holder.captures.size(), expected);
    ASSERT_EQ(inner.captures().size(), expected);
    bool has_x = false;
    for (const Capture& capture : inner.captures()) {
      const ValueId outer = holder.captures[static_cast<size_t>(capture.index)];
      EXPECT_EQ(graph->value(outer).name, inner.value(capture.inner).name);
      EXPECT_EQ(inner.value(capture.inner).type.is_tensor(), true);
      has_x = has_x || inner.value(capture.inner).name == "x";
    }
    EXPECT_TRUE(has_x);
    graph = &inner;
  }
  EXPECT_EQ(node_at(*graph, 0).inputs[0], graph->captures()[0].inner);
}

TEST(Reader, SiblingsMayReuseNamesAndHidingWarns) {
  Message node = proto::node("If", {"c"}, {"y"});
  node.message(5, proto::graph_attribute("then_branch", nested_if(0)));
  node.message(5, proto::graph_attribute("else_branch", nested_if(0)));
  Message g;
  g.text(2, "g");
  g.message(1, node);
  g.message(12, proto::value("y", 1, {1}));
  EXPECT_TRUE(read(proto::model(with_condition(g)))->warnings.empty());
  Message hiding = with_condition(g);
  hiding.message(5, proto::float_tensor("r", {1}, {1}));
  const auto model = read(proto::model(hiding));
  ASSERT_EQ(model->warnings.size(), 2u);
  EXPECT_NE(model->warnings[0].find("'r' in subgraph 'b0' hides"), std::string::npos);
}

TEST(Reader, SubgraphsSeeOnlyWhatStandsBefore) {
  Message g = nested_if(1);
  g.message(1, proto::node("Neg", {"c"}, {"x"}));  // x comes after the If that needs it
  g.message(11, proto::value("c", 1, {1}));
  expect_fault(proto::model(g), "uses 'x' before Neg '' defines it");
}

TEST(Reader, NestingIsBounded) {
  EXPECT_NO_THROW(read(proto::model(with_condition(nested_if(64)))));
  expect_fault(proto::model(with_condition(nested_if(65))), "deeper than 64 levels");
  ReadOptions options;
  options.max_subgraph_depth = 1;
  EXPECT_NE(fault_of(proto::model(with_condition(nested_if(2))), options).find("deeper than 1"),
            std::string::npos);
  EXPECT_NO_THROW(read(proto::model(with_condition(nested_if(1))), options));
  EXPECT_NE(fault_of(proto::model(with_condition(nested_if(1000)))), "nothing was thrown");
}

TEST(Reader, NodesAreBounded) {
  ReadOptions options;
  options.max_nodes = 1;
  Message g = proto::small_graph();
  EXPECT_NO_THROW(read(proto::model(g), options));
  g.message(1, proto::node("Neg", {"x"}, {"t"}));
  EXPECT_NE(fault_of(proto::model(g), options).find("more than 1 nodes"), std::string::npos);
  Message crowded = proto::node("Neg", {"x"}, {"t"});
  for (int i = 0; i < 2000; ++i) crowded.message(5, proto::int_attribute(std::to_string(i), 1));
  g = proto::small_graph();
  g.message(1, crowded);
  expect_fault(proto::model(g), "2000 attributes, the limit is 1000");
}

Message function(std::string_view name, const Message& node) {
  Message f;
  f.text(1, name);
  f.text(4, "a");
  f.text(5, "b");
  f.message(7, node);
  f.message(9, proto::opset("", 17));
  f.text(10, "local");
  return f;
}

TEST(Reader, FunctionsStayCalls) {
  Message reference = proto::attribute("alpha", 1);
  reference.text(21, "slope");
  Message body = proto::node("LeakyRelu", {"a"}, {"b"});
  body.message(5, reference);
  Message f = function("f", body);
  f.text(6, "slope");
  f.message(11, proto::int_attribute("k", 4));
  f.text(13, "v2");
  Message call = proto::node("f", {"x"}, {"z"}, "local");
  call.text(8, "v2");
  Message g = proto::small_graph();
  g.message(1, call);
  Message m = proto::model(g);
  m.message(8, proto::opset("local", 1));
  m.message(25, f);
  const auto model = read(m);
  const Function* found = model->find_function("local", "f", "v2");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->attributes, std::vector<std::string>{"slope"});
  EXPECT_EQ(found->attribute_defaults.get_int("k", 0), 4);
  const auto& held = *node_at(*found->body, 0).attributes.find("alpha");
  EXPECT_EQ(get_held<AttributeRef>(held)->name, "slope");
  EXPECT_EQ(get_held<AttributeRef>(held)->type, 1);
  EXPECT_EQ(node_at(*model->graph, 1).overload, "v2");
  EXPECT_TRUE(model->warnings.empty());

  m.message(25, f);
  expect_fault(m, "function 'local.f:v2' is defined twice");
}

TEST(Reader, FunctionsMayNotCallThemselves) {
  Message m = proto::model(proto::small_graph());
  m.message(25, function("f", proto::node("g", {"a"}, {"b"}, "local")));
  m.message(25, function("g", proto::node("f", {"a"}, {"b"}, "local")));
  expect_fault(m, "calls itself");
  Message chain = proto::model(proto::small_graph());
  for (int i = 0; i < 101; ++i) {
    const std::string next = "f" + std::to_string(i + 1);
    chain.message(25, function("f" + std::to_string(i), proto::node(next, {"a"}, {"b"}, "local")));
  }
  expect_fault(chain, "100 levels");
  Message backwards = proto::model(proto::small_graph());
  for (int i = 101; i >= 0; --i) {
    const std::string next = "f" + std::to_string(i + 1);
    backwards.message(25,
                      function("f" + std::to_string(i), proto::node(next, {"a"}, {"b"}, "local")));
  }
  expect_fault(backwards, "100 levels");
}

TEST(Reader, FunctionsSeeNothingOutside) {
  Message m = proto::model(proto::small_graph());
  m.message(25, function("f", proto::node("Add", {"a", "x"}, {"b"})));
  expect_fault(m, "uses 'x', which nothing defines");
}

TEST(Reader, ReferencesBelongInFunctions) {
  Message reference = proto::attribute("alpha", 1);
  reference.text(21, "slope");
  Message node = proto::node("LeakyRelu", {"x"}, {"t"});
  node.message(5, reference);
  Message g = proto::small_graph();
  g.message(1, node);
  expect_fault(proto::model(g), "stands in no function");
}

TEST(Reader, AttributesOfEveryKind) {
  Message node = proto::node("Op", {"x"}, {"t"}, "test");
  const auto add = [&](Message attribute) { node.message(5, attribute); };
  Message f = proto::attribute("f", 1);
  f.fixed32(2, 0x3f800000);
  add(f);
  add(proto::int_attribute("i", -3));
  Message s = proto::attribute("s", 3);
  s.text(4, "text");
  add(s);
  Message t = proto::attribute("t", 4);
  t.message(5, proto::float_tensor("", {}, {2}));
  add(t);
  Message ints = proto::attribute("ints", 7);
  ints.varint(8, 1);
  ints.varint(8, 2);
  add(ints);
  add(proto::attribute("none", 7));
  Message strings = proto::attribute("strings", 8);
  strings.text(9, "a");
  strings.text(9, "");
  add(strings);
  Message types = proto::attribute("types", 14);
  types.message(15, proto::tensor_type(7, {"n"}));
  add(types);
  Message g = proto::small_graph();
  g.message(1, node);
  Message m = proto::model(g);
  m.message(8, proto::opset("test", 1));
  const auto model = read(m);
  EXPECT_EQ(
      print_node(*model->graph, node_at(*model->graph, 1)),
      "t = test.Op <f = 1.0, i = -3, s = \"text\", t = float {2}, ints = [1, 2], none: ints = "
      "[], strings = [\"a\", \"\"], types: type_protos = [int64[?]]> (x)");
}

TEST(Reader, RefusesWrongAttributes) {
  const auto with = [](const Message& attribute, int64_t ir_version = 8) {
    Message node = proto::node("Op", {"x"}, {"t"});
    node.message(5, attribute);
    Message g = proto::small_graph();
    g.message(1, node);
    return proto::model(g, ir_version);
  };
  Message mixed = proto::attribute("a", 1);
  mixed.varint(3, 5);
  expect_fault(with(mixed), "declared FLOAT but holds INT");
  Message untyped;
  untyped.text(1, "a");
  untyped.varint(3, 5);
  expect_fault(with(untyped), "it has no type");
  EXPECT_EQ(node_at(*read(with(untyped, 1))->graph, 1).attributes.get_int("a", 0), 5);
  expect_fault(with(proto::attribute("a", 4)), "declared TENSOR and holds 0");
  expect_fault(with(proto::attribute("a", 15)), "its type is 15");
  expect_fault(with(proto::attribute("", 2)), "an attribute has no name");
  Message node = proto::node("Op", {"x"}, {"t"});
  node.message(5, proto::int_attribute("a", 1));
  node.message(5, proto::int_attribute("a", 1));
  Message g = proto::small_graph();
  g.message(1, node);
  expect_fault(proto::model(g), "node 1 Op of graph 'g': attribute 'a' is given twice");
}

TEST(Reader, RefusesBrokenGraphs) {
  const auto with = [](uint32_t field, const Message& part) {
    Message g = proto::small_graph();
    g.message(field, part);
    return proto::model(g);
  };
  expect_fault(with(1, proto::node("Neg", {"x"}, {"y"})), "'y' is defined twice");
  expect_fault(with(1, proto::node("Neg", {"y"}, {"x"})), "'x' is defined twice");
  expect_fault(with(1, proto::node("Neg", {"nowhere"}, {"t"})), "uses 'nowhere', which nothing");
  expect_fault(with(1, proto::node("Neg", {"t"}, {"t"})), "uses 't' before Neg '' defines it");
  expect_fault(with(1, proto::node("", {"x"}, {"t"})), "no op_type");
  expect_fault(with(11, proto::value("x", 1, {1})), "two inputs have the name 'x'");
  expect_fault(with(11, proto::value("", 1, {1})), "no name");
  expect_fault(with(11, proto::value("z", 0, {1})), "element type 0");
  expect_fault(with(11, Message()), "no name");
  expect_fault(with(12, proto::value("z", 1, {1})), "output 'z' of graph 'g' is defined by no");
  expect_fault(with(12, proto::value("", 1, {1})), "output ''");
  expect_fault(with(5, proto::float_tensor("", {1}, {1})), "an initializer has no name");
  expect_fault(with(5, proto::float_tensor("y", {1}, {1})), "'y' is defined twice");
  expect_fault(with(5, proto::raw_tensor("x", 7, {1}, "12345678")), "declared float");
  Message untyped;
  untyped.text(1, "z");
  expect_fault(with(11, untyped), "input 'z' has no type");
  Message twice = proto::small_graph();
  twice.message(5, proto::float_tensor("w", {1}, {1}));
  twice.message(5, proto::float_tensor("w", {1}, {1}));
  expect_fault(proto::model(twice), "two initializers have the name 'w'");
  Message cycle = proto::small_graph();
  cycle.message(1, proto::node("Add", {"x", "b"}, {"a"}));
  cycle.message(1, proto::node("Neg", {"a"}, {"b"}));
  expect_fault(proto::model(cycle), "not sorted or form a cycle");
}

TEST(Reader, AbsentOptionalsAreNoValues) {
  Message g = proto::small_graph();
  g.message(1, proto::node("Clip", {"x", "", ""}, {"", "t"}));
  const auto model = read(proto::model(g));
  const Node& node = node_at(*model->graph, 1);
  EXPECT_EQ(node.inputs[1], ValueId::kNone);
  EXPECT_EQ(node.outputs[0], ValueId::kNone);
  EXPECT_NE(node.outputs[1], ValueId::kNone);
}

TEST(Reader, RefusesBrokenModels) {
  const auto bytes = [](std::string_view text) {
    Message m;
    m.put(std::as_bytes(std::span(text)));
    return m;
  };
  expect_fault(bytes(""), "empty");
  expect_fault(bytes("\x08\x08\x12\x04mode"), "no opset_import");
  expect_fault(bytes("version https://git-lfs.github.com/spec/v1\n"), "Git LFS");
  expect_fault(bytes(std::string_view("\x18\0\0\0ORTM", 8)), ".ort");
  expect_fault(bytes("<!DOCTYPE html>"), "web page");
  Message no_graph;
  no_graph.varint(1, 8);
  no_graph.message(8, proto::opset("", 17));
  expect_fault(no_graph, "no graph");
  Message two = proto::model(proto::small_graph());
  two.message(7, proto::small_graph());
  expect_fault(two, "2 graphs");
  expect_fault(proto::model(proto::small_graph(), 0), "ir_version is 0");
  expect_fault(proto::model(proto::small_graph(), -1), "ir_version is -1");
  Message versions = proto::model(proto::small_graph());
  versions.message(8, proto::opset("ai.onnx", 18));
  expect_fault(versions, "with version 17 and 18");
  Message zero = proto::model(proto::small_graph());
  zero.message(8, proto::opset("x", 0));
  expect_fault(zero, "version 0, expected 1 or more");
  Message keys = proto::model(proto::small_graph());
  keys.message(14, proto::entry("k", "1"));
  keys.message(14, proto::entry("k", "2"));
  expect_fault(keys, "key 'k' twice");
}

TEST(Reader, OddButAcceptedThingsAreWarnings) {
  Message g = proto::node("Relu", {"x"}, {"y"});
  Message nameless;
  nameless.message(1, g);
  nameless.message(11, proto::value("x", 1, {1}));
  Message output;
  output.text(1, "y");
  nameless.message(12, output);  // neither a name nor the type of the output
  Message m = proto::model(nameless, 99);
  m.message(8, proto::opset("unused", 1));
  m.message(20, Message());
  EXPECT_EQ(read(m)->warnings.size(), 4u);
  Message old;
  old.varint(1, 2);
  old.message(7, proto::small_graph());
  EXPECT_EQ(read(old)->opset_imports.at(""), 1);
}

TEST(Reader, EveryPrefixIsAnErrorOrAModel) {
  Message m = proto::model(with_condition(nested_if(2)));
  const std::vector<std::byte>& bytes = m.result();
  for (size_t length = 0; length < bytes.size(); ++length) {
    const std::vector<std::byte> prefix(bytes.begin(),
                                        bytes.begin() + static_cast<std::ptrdiff_t>(length));
    try {
      verify(*read_model(prefix, nullptr)->graph);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()), "");
    }
  }
}

TEST(Reader, EveryFlippedByteIsAnErrorOrAModel) {
  Message g = with_condition(nested_if(2));
  g.message(5, proto::float_tensor("w", {2}, {1, 2}));
  const std::vector<std::byte> bytes = proto::model(g).take();
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::vector<std::byte> changed = bytes;
      changed[at] = static_cast<std::byte>(value);
      try {
        verify(*read_model(changed, nullptr)->graph);
      } catch (const Error&) {
      }
    }
  }
}

TEST(Reader, WeightsOfAFileAreViewsThatOutliveIt) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "sardonyx_reader_test.onnx").string();
  Message g = proto::small_graph();
  g.message(5, proto::raw_tensor("w", 3, {5}, "hello"));
  g.message(12, proto::value("w", 3, {5}));
  write_file(path, proto::model(g).result());
  std::unique_ptr<Model> model = read_model(path);
  std::filesystem::remove(path);
  const Tensor weight = model->graph->value(model->graph->outputs()[1]).constant;
  model.reset();
  EXPECT_EQ(std::string(weight.data<char>(), 5), "hello");
  try {
    read_model(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNoSuchFile);
  }
}

}  // namespace
}  // namespace sardonyx
