#include "onnx/writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/mapped_file.h"
#include "ir/text_parse.h"
#include "ir/text_print.h"
#include "onnx/proto_builders.h"
#include "onnx/reader.h"
#include "onnx/writer_test_util.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;
using proto::Message;

struct TextCase {
  const char* name;
  const char* text;
};

class WriterTextTest : public ::testing::TestWithParam<TextCase> {};

// Text form, tensors and all, is the same after a way through bytes.
TEST_P(WriterTextTest, ComesBackTheSame) {
  const auto model = parse_model_text(GetParam().text);
  const auto bytes = write_model(*model);
  const auto again = read_model(bytes, nullptr);
  EXPECT_EQ(print(*again), print(*model));
  EXPECT_EQ(write_model(*again), bytes);
}

constexpr TextCase kTextCases[] = {
    {"Header", R"(<ir_version: 9, opset_import: ["": 17, "com.foo": 2], producer_name: "p",
      producer_version: "1", domain: "d", model_version: 7, doc_string: "text",
      metadata_props: ["k": "v", "": ""]> g () => () { })"},
    {"ValuesAndTypes", R"(g (float[N,3] x, int64 s, seq(float[2]) q, optional(int8[K]) o,
      map(string,float[M]) m, float u) => (float[3,3] y, seq(int32) z) <float[?,4] t> {
      t = Neg(x) y = Neg(t) z = d.Op(s, q, o, m, u) })"},
    {"Constants", R"(g () => (a, b) <float[2] a = {1, nan}, string[3] b = {"", "x", "\x00"},
      int4[3] c = {1, -2, 3}, uint2[5] e = {1, 2, 3, 0, 1}, complex64[1] f = {1, 2}, bool g = {1},
      bfloat16[0] h = {}, float8e5m2[2] i = {1, 2}> { })"},
    {"Defaults", R"(g (float[2] x, float[2] w = {1, 2}, int64 k = {3}) => (float[2] y) {
      y = Op(x, w, k) })"},
    {"Attributes", R"(g (float x) => (y) { y = d.Op:over <
      i = -3, f = 0.1, n = nan, m = -inf, s = "a\"b\x00", is: ints = [], fs: floats = [1, 2],
      ss = ["", "b"], t = float16[2] {1, 2}, ts = [int4[3] {1, 2, 3}, bool {1}],
      sp = sparse[4,4] (float[1] {2}, int64[1] {5}), es: strings = [], et: tensors = [],
      sps = [sparse[4] (float[1] {2}, int64[1,1] {3})], tp: type_proto = seq(float[2]),
      tps: type_protos = [float, map(string,int64[])],
      gs = [one () => (o) { o = Neg(x) }, two () => (o) <int64[1] o = {1}> { }]>(x) })"},
    {"AbsentOptionals", R"(g (float x) => (z) { , z, "" = Op(x, , "") })"},
    {"Subgraphs", R"(g (float[2] x, bool c) => (z) { t = Neg(x)
      z = If(c) <then_branch = a () => (r) { r = If(c) <then_branch = b () => (q) { q = Add(t, x) },
                                                        else_branch = e () => (x) { }> },
                 else_branch = f () => (s) <float[2] s = {1, 2}> { }> })"},
    {"Functions", R"(<ir_version: 10, opset_import: ["": 17, "local": 1]>
      g (float x) => (y) { y = local.f:v2 <alpha = 2.0> (x) }
      <domain: "local", opset_import: ["": 18], overload: "v2", doc_string: "text",
       metadata_props: ["k": "v"]>
      f <alpha, beta = 0.5> (a) => (b) <float[2] t> {
        t = Selu <alpha: float = @alpha, gamma: float = @beta> (a) b = Neg(t) })"},
};
INSTANTIATE_TEST_SUITE_P(Writer, WriterTextTest, ::testing::ValuesIn(kTextCases),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Writer, KeepsWhatResultsDoNotDependOn) {
  Message noted = proto::value("t", 1, {3});
  noted.text(3, "doc of t");
  noted.message(4, proto::entry("k", "t"));
  Message input = proto::value("z", 1, {"n", "n", -1});
  input.text(3, "doc of z");
  Message node = proto::node("Neg", {"x"}, {"t"});
  node.text(6, "doc of a node");
  node.message(9, proto::entry("k", "node"));
  Message about_constant;  // no type, only notes
  about_constant.text(1, "w");
  about_constant.text(3, "doc of w");
  Message annotation;
  annotation.text(1, "t");
  annotation.message(2, proto::entry("SCALE_TENSOR", "w"));
  Message g = proto::small_graph();
  g.message(1, node);
  g.message(5, proto::float_tensor("w", {1}, {2}));
  g.text(10, "doc of g");
  g.message(11, input);
  g.message(13, noted);
  g.message(13, about_constant);
  g.message(14, annotation);
  g.message(16, proto::entry("k", "graph"));
  g.text(99, "from the future");
  Message m = proto::model(g);
  m.message(20, proto::entry("training", "info"));
  m.message(26, proto::entry("device", "configuration"));
  m.fixed32(99, 5);

  const auto model = read_model(m.result(), nullptr);
  const auto bytes = write_model(*model);
  const auto again = read_model(bytes, nullptr);
  EXPECT_EQ(print(*again), print(*model));
  EXPECT_EQ(again->warnings, model->warnings);
  EXPECT_EQ(again->other_fields, model->other_fields);
  EXPECT_FALSE(again->other_fields.empty());
  const Graph& graph = *again->graph;
  EXPECT_EQ(graph.other_fields, model->graph->other_fields);
  EXPECT_FALSE(graph.other_fields.empty());
  EXPECT_EQ(graph.doc, "doc of g");
  EXPECT_EQ(graph.metadata.at(0).second, "graph");
  EXPECT_EQ(value_named(graph, "t").doc, "doc of t");
  EXPECT_EQ(value_named(graph, "t").metadata.at(0).second, "t");
  EXPECT_EQ(value_named(graph, "z").doc, "doc of z");
  EXPECT_EQ(value_named(graph, "w").doc, "doc of w");
  EXPECT_EQ(graph.node(graph.order()[1]).doc, "doc of a node");
  EXPECT_EQ(graph.node(graph.order()[1]).metadata.at(0).second, "node");
}

// The bytes of `field`s of a message, as they lie there.
std::vector<std::vector<std::byte>> raw_fields(WireCursor message, uint32_t field) {
  std::vector<std::vector<std::byte>> found;
  while (message.next()) {
    if (message.field() != field) continue;
    const auto raw = message.raw_field();
    found.emplace_back(raw.begin(), raw.end());
  }
  return found;
}

// What the IR has no place for lies in the written model as it lay in the read one.
TEST(Writer, KeepsFieldsThatItDoesNotKnow) {
  constexpr uint32_t kFuture = 99;
  Message tensor = proto::float_tensor("t", {1}, {2});
  tensor.text(12, "doc of a tensor");
  tensor.message(16, proto::entry("k", "tensor"));
  tensor.text(kFuture, "tensor");
  Message attribute = proto::attribute("value", 4);
  attribute.message(5, tensor);
  attribute.text(13, "doc of an attribute");
  attribute.text(kFuture, "attribute");
  Message node = proto::node("Constant", {}, {"c"});
  node.message(5, attribute);
  node.message(10, proto::entry("device", "configuration"));
  node.text(kFuture, "node");
  Message dim, shape, inner, type;
  dim.text(2, "inner_name");
  dim.text(3, "denotation of a dimension");
  shape.message(1, dim);
  inner.varint(1, 1);
  inner.message(2, shape);
  type.message(1, inner);
  type.text(6, "denotation of a type");
  const auto info = [&](const char* name) {
    Message m = proto::value_info(name, type);
    m.text(kFuture, name);
    return m;
  };
  Message weight = proto::float_tensor("w", {1}, {3});
  weight.text(12, "doc of w");
  weight.text(kFuture, "w");
  Message fallback = proto::float_tensor("d", {1}, {3});
  fallback.text(kFuture, "d");
  Message g = proto::small_graph();
  g.message(1, node);
  g.message(1, proto::node("Neg", {"c"}, {"n"}));
  g.message(5, weight);
  g.message(5, fallback);
  g.message(11, info("d"));
  g.message(12, info("n"));
  g.message(13, info("c"));
  Message about_weight = proto::value("w", 1, {1});
  about_weight.text(kFuture, "w");
  g.message(13, about_weight);
  g.message(13, info("nobody"));
  Message function;
  function.text(1, "f");
  function.text(4, "a");
  function.text(5, "b");
  function.message(7, proto::node("Neg", {"a"}, {"b"}));
  function.message(9, proto::opset("", 17));
  function.text(10, "local");
  Message default_value = proto::int_attribute("i", 3);
  default_value.text(13, "doc of a default");
  function.message(11, default_value);
  function.text(kFuture, "function");
  Message m = proto::model(g, 10);
  m.message(8, proto::opset("local", 1));
  m.message(25, function);

  const std::vector<std::byte>& before = m.result();
  const std::vector<std::byte> after = write_model(*read_model(before, nullptr));
  const auto nested = [](const std::vector<std::byte>& model, std::vector<uint32_t> path) {
    std::vector<WireCursor> at = {WireCursor(model, "ModelProto")};
    const uint32_t last = path.back();
    path.pop_back();
    for (uint32_t field : path) {
      std::vector<WireCursor> next;
      for (const WireCursor& each : at) {
        for (const WireCursor& inner : fields_of(each, field)) next.push_back(inner);
      }
      at = std::move(next);
    }
    std::vector<std::vector<std::byte>> found;
    for (const WireCursor& each : at) {
      for (auto& raw : raw_fields(each, last)) found.push_back(std::move(raw));
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  const std::vector<uint32_t> paths[] = {
      {7, 1, kFuture},  {7, 1, 10},       {7, 1, 5, 13},    {7, 1, 5, kFuture},
      {7, 1, 5, 5, 8},  {7, 1, 5, 5, 12}, {7, 1, 5, 5, 16}, {7, 1, 5, 5, kFuture},
      {7, 5, 12},       {7, 5, kFuture},  {7, 11, 2},       {7, 11, kFuture},
      {7, 12, 2},       {7, 12, kFuture}, {7, 13, 1},       {7, 13, 2},
      {7, 13, kFuture}, {25, kFuture},    {25, 11, 13},
  };
  for (const auto& path : paths) {
    std::string name;
    for (uint32_t field : path) name += "/" + std::to_string(field);
    const auto expected = nested(before, path);
    EXPECT_FALSE(expected.empty()) << name;
    EXPECT_EQ(nested(after, path), expected) << name;
  }
}

// A declared type that a pass has made more exact is not written as it was.
TEST(Writer, DeclaredTypesGiveWayToBetterOnes) {
  Message g = proto::small_graph();
  g.message(1, proto::node("Neg", {"y"}, {"z"}));
  g.message(12, proto::value("z", 1, {"batch", "columns"}));
  const auto model = read_model(proto::model(g).result(), nullptr);
  const auto written = [&] { return dim_names(write_model(*model)); };
  EXPECT_EQ(written(), (std::vector<std::string>{"batch", "3", "batch", "3", "batch", "columns"}));
  value_named(*model->graph, "z").type.shape = Dims{Dim(2), Dim(3)};
  EXPECT_EQ(written(), (std::vector<std::string>{"batch", "3", "batch", "3", "2", "3"}));
}

// As exporters write for the outputs of branches.
TEST(Writer, KeepsATypeThatSaysNothing) {
  Message g = proto::small_graph();
  g.message(1, proto::node("Neg", {"y"}, {"z"}));
  Message output;
  output.text(1, "z");
  output.message(2, Message());
  g.message(12, output);
  const auto bytes = write_model(*read_model(proto::model(g).result(), nullptr));
  const std::vector<WireCursor> graphs = fields_of(WireCursor(bytes, "ModelProto"), 7);
  ASSERT_EQ(graphs.size(), 1u);
  const std::vector<WireCursor> outputs = fields_of(graphs[0], 12);
  ASSERT_EQ(outputs.size(), 2u);
  const auto written = outputs[1].all();
  const auto expected = output.result();
  EXPECT_TRUE(std::ranges::search(written, std::span(expected).last(2)).begin() != written.end());
}

TEST(Writer, DimensionsGetTheirNamesOfTheModelBack) {
  Message g = proto::small_graph();
  g.message(11, proto::value("z", 1, {"batch", "batch", -1, "a#b", 4}));
  const auto bytes = write_model(*read_model(proto::model(g).result(), nullptr));
  EXPECT_EQ(dim_names(bytes), (std::vector<std::string>{"batch", "3", "batch", "batch",
                                                        "18446744073709551615",  // -1, as declared
                                                        "a#b", "4", "batch", "3"}));
}

TEST(Writer, OldVersionsListConstantsAsInputs) {
  Message g;
  g.text(2, "g");
  g.message(1, proto::node("Add", {"x", "w"}, {"y"}));
  g.message(5, proto::float_tensor("w", {1}, {2}));
  g.message(11, proto::value("w", 1, {1}));
  g.message(11, proto::value("x", 1, {1}));
  g.message(12, proto::value("y", 1, {1}));
  const auto model = read_model(proto::model(g, 3).result(), nullptr);
  const auto bytes = write_model(*model);
  EXPECT_EQ(names_in_graph(bytes, 11), (std::vector<std::string>{"x", "w"}));
  EXPECT_EQ(print(*read_model(bytes, nullptr)), print(*model));

  const auto bad = parse_model_text("<ir_version: 3> g (float x = {1}) => (x) { }");
  expect_refused(*bad, {}, "has a default, which IR version 3 cannot say");
}

TEST(Writer, NamesAreMadeUnique) {
  const auto model = parse_model_text(R"(g (float[1] x, bool c) => (y) {
    t = Neg(x) u = Neg(t)
    y = If(c) <then_branch = a () => (r) { r = Add(u, t) }, else_branch = b () => (r) { r = Neg(x) }>
  })");
  Graph& graph = *model->graph;
  value_named(graph, "t").name = "";
  value_named(graph, "u").name = "y";  // as the output, which keeps its name
  const auto again = read_model(write_model(*model), nullptr);
  EXPECT_EQ(print(*again), print(*model));
  EXPECT_EQ(again->graph->value(again->graph->outputs()[0]).name, "y");
  EXPECT_TRUE(again->warnings.empty());
}

TEST(Writer, ExpressionsAndIncompleteTypes) {
  const auto model =
      parse_model_text("g (float[N,M] x) => (float[(N + 1)] y) { t = Op(x) y = Op(t) }");
  Graph& graph = *model->graph;
  value_named(graph, "t").type = ValueType::tensor(DataType::kUndefined);
  const auto bytes = write_model(*model);
  EXPECT_EQ(dim_names(bytes), (std::vector<std::string>{"N", "M", "(N + 1)"}));
  EXPECT_TRUE(names_in_graph(bytes, 13).empty());
}

// Damage that the reader lets through is no reason for the writer to fail.
TEST(Writer, WhatCanBeReadCanBeWrittenAndReadAgain) {
  Message branch;
  branch.text(2, "b");
  branch.message(1, proto::node("Neg", {"x"}, {"r"}));
  branch.message(12, proto::value("r", 1, {"n"}));
  Message holder = proto::node("If", {"c"}, {"z"});
  holder.message(5, proto::graph_attribute("then_branch", branch));
  Message g = proto::small_graph();
  g.message(11, proto::value("c", 9, {}));
  g.message(1, holder);
  g.message(5, proto::float_tensor("w", {2}, {1, 2}));
  const std::vector<std::byte> bytes = proto::model(g).take();
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<std::byte> changed = bytes;
      changed[at] ^= static_cast<std::byte>(1 << bit);
      std::unique_ptr<Model> model;
      try {
        model = read_model(changed, nullptr);
      } catch (const Error&) {
        continue;
      }
      const auto written = write_model(*model);
      EXPECT_EQ(write_model(*read_model(written, nullptr)), written) << at << ", bit " << bit;
    }
  }
}

TEST(Writer, RefusesWhatAFileCannotSay) {
  expect_refused(Model(), {}, "has no graph");
  const auto model = parse_model_text("g (float x) => (y) { t = Neg(x) y = Neg(t) }");
  WriteOptions options;
  options.max_model_bytes = 20;
  expect_refused(*model, options, "a model file holds at most 20; write it to a path");
  options = {};
  options.external_data_file = "w";
  expect_refused(*model, options, "no folder for external data");
  options = {};
  options.alignment = 0;
  expect_refused(*model, options, "alignment");
  Graph& graph = *model->graph;
  graph.set_input(graph.order()[0], 0, graph.outputs()[0]);  // a cycle
  expect_refused(*model, {}, "graph 'g'");
}

}  // namespace
}  // namespace sardonyx
