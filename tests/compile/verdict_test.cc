// A verdict says what a Session does: whatever the ONNX file says around its compiled part, it is
// usable where, and only where, a Session loads.
#include <gtest/gtest.h>

#include "onnx/reader.h"
#include "sardonyx/compile.h"
#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

using Change = std::function<void(Model&, Node&)>;

constexpr const char* kKey = "ep_compatibility_info.CPUExecutionProvider";

class Verdicts : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("m.onnx", model_bytes(R"(m (float[N,2] a, float[N,2] b, float[2] w = {10, 20})
        => (float[N,2] d, float[N,2] s) { d = Sub(a, b) t = Add(a, b) s = Add(t, w) })"));
  }

  // Compiles and rewrites the ONNX file after `change`.
  std::filesystem::path changed(const Change& change, bool embed) const {
    CompileOptions options;
    options.overwrite = true;
    options.embed = embed;
    const std::filesystem::path path = folder_ / "m_ctx.onnx";
    std::filesystem::remove(path);  // what was made of it may be no compiled model any more
    compile(folder_ / "m.onnx", path, options);
    const std::unique_ptr<Model> model = read_model(path.string());
    Graph& graph = *model->graph;
    const NodeId id = graph.order()[0];
    Node node = graph.node(id);
    graph.remove_node(id);
    change(*model, node);
    graph.add_node(std::move(node));
    write_model(*model, path.string());
    return path;
  }

  TemporaryFolder folder_;
};

Change set(const char* attribute, AttributeValue value) {
  return [=](Model&, Node& node) { node.attributes.set(attribute, value); };
}

Change declare(size_t i, ValueType type) {
  return [=](Model& model, Node&) { model.graph->value(model.graph->inputs()[i]).type = type; };
}

Change add_to_metadata(const char* key, const char* value) {
  return [=](Model& model, Node&) {
    std::erase_if(model.metadata, [](const auto& entry) { return entry.first == kKey; });
    if (key != nullptr) model.metadata.emplace_back(key, value);
  };
}

TEST_F(Verdicts, AreThoseOfSessions) {
  struct Row {
    const char* name;
    Change change;
    Compatibility expected;
    const char* facet;
  };
  const auto good = Compatibility::kOptimal, bad = Compatibility::kUnsupported,
             other = Compatibility::kNotApplicable;
  const Row rows[] = {
      {"as it is", [](Model&, Node&) {}, good, ""},
      {"inputs swapped", [](Model&, Node& node) { std::swap(node.inputs[0], node.inputs[1]); },
       good, ""},
      {"an input twice", [](Model&, Node& node) { node.inputs[1] = node.inputs[0]; }, good, ""},
      {"renamed", [](Model& model, Node& node) { model.graph->value(node.inputs[0]).name = "z"; },
       good, ""},
      {"an input that no part reads",
       [](Model& model, Node&) { model.graph->add_input("z", ValueType::tensor(DataType::kInt8)); },
       good, ""},
      {"declares less", declare(0, ValueType::tensor(DataType::kFloat)), good, ""},
      {"no metadata", add_to_metadata(nullptr, nullptr), good, ""},
      {"damaged metadata", add_to_metadata(kKey, "nonsense"), good, ""},
      {"metadata of another provider", add_to_metadata("ep_compatibility_info.QNN", "1"), good, ""},
      {"another provider", set("source", std::string("QNN")), other, "provider"},
      {"no provider", set("source", std::string()), other, "provider"},
      {"not the main context", set("main_context", int64_t{0}), bad, "model"},
      {"a node more",
       [](Model& model, Node& node) {
         Node more;
         more.op = "Identity";
         more.inputs.push_back(node.inputs[0]);
         more.outputs.push_back(model.graph->add_value("more", ValueType()));
         model.graph->add_node(std::move(more));
       },
       bad, "model"},
      {"an initializer more",
       [](Model& model, Node&) {
         model.graph->add_constant("k", Tensor::allocate(DataType::kFloat, Shape{1}));
       },
       bad, "model"},
      {"another operator", [](Model&, Node& node) { node.op = "EPContext2"; }, other, "model"},
      {"another element type", declare(0, ValueType::tensor(DataType::kInt64)), bad, "model"},
      {"another rank", declare(1, ValueType::tensor(DataType::kFloat, Dims{Dim(2)})), bad, "model"},
      {"another size", declare(2, ValueType::tensor(DataType::kFloat, Dims{Dim(3)})), bad, "model"},
      {"a sequence", declare(0, ValueType::sequence(ValueType::tensor(DataType::kFloat))), bad,
       "model"},
      {"an input less", [](Model&, Node& node) { node.inputs.resize(2); }, bad, "model"},
      {"an input more", [](Model&, Node& node) { node.inputs.push_back(node.inputs[0]); }, bad,
       "model"},
      {"inputs of other types swapped",
       [](Model&, Node& node) { std::swap(node.inputs[0], node.inputs[2]); }, bad, "model"},
      {"an output less",
       [](Model& model, Node& node) {
         node.outputs.resize(1);
         model.graph->set_output(1, node.outputs[0]);
       },
       bad, "model"},
  };
  for (const Row& row : rows) {
    for (const bool embed : {false, true}) {
      SCOPED_TRACE(std::string(row.name) + (embed ? ", embedded" : ""));
      std::filesystem::path path;
      try {
        path = changed(row.change, embed);
      } catch (const Error& error) {
        FAIL() << error.what();
      }
      const Verdict verdict = check_compatibility(path);
      EXPECT_EQ(verdict.compatibility, row.expected) << verdict.reason;
      EXPECT_EQ(verdict.facet, row.facet);
      if (row.expected == Compatibility::kOptimal) {
        EXPECT_NO_THROW(Session session(path));
        continue;
      }
      std::string message = "loads";
      try {
        Session session(path);
      } catch (const Error& error) {
        message = error.what();
      }
      EXPECT_NE(message, "loads") << verdict.reason;
      // A model that is not compiled has an error of its own.
      if (std::string_view(row.name) != "another operator")
        expect_mentions(message, {verdict.reason});
    }
  }
}

TEST_F(Verdicts, OfSourceModelsWithTheMetadataOfOne) {
  const std::unique_ptr<Model> model = read_model((folder_ / "m.onnx").string());
  compile(folder_ / "m.onnx");
  model->metadata = read_model((folder_ / "m_ctx.onnx").string())->metadata;
  ASSERT_EQ(model->metadata.at(0).first, kKey);
  for (const char* text : {model->metadata[0].second.c_str(), "nonsense"}) {
    model->metadata[0].second = text;
    write_model(*model, (folder_ / "m.onnx").string());
    const Verdict verdict = check_compatibility(folder_ / "m.onnx");
    EXPECT_EQ(verdict.compatibility, Compatibility::kNotApplicable);
    expect_mentions(verdict.reason, {"not compiled"});
  }
}

// One rule for all that is no model: the error of a Session.
TEST_F(Verdicts, OfWhatIsNoModelAreErrors) {
  const char* const texts[] = {"", "hello, this is text", "version https://git-lfs.github.com/spec",
                               "<!DOCTYPE html>", "{}"};
  for (const char* text : texts) {
    SCOPED_TRACE(text);
    const auto bytes = std::as_bytes(std::span(std::string_view(text)));
    folder_.write("x.onnx", {bytes.begin(), bytes.end()});
    const ErrorCode code = ErrorCode::kInvalidProtobuf;
    const std::string of_session = message_of(code, [&] { Session session(folder_ / "x.onnx"); });
    const std::string of_verdict =
        message_of(code, [&] { check_compatibility(folder_ / "x.onnx"); });
    expect_mentions(of_session, {of_verdict});
  }
}

}  // namespace
}  // namespace sardonyx
