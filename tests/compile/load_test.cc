// Loading compiled models that are not as they should be: other providers, several parts, files
// that are missing, elsewhere, damaged or made for something else.
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>

#include "artifact/artifact.h"
#include "base/cpu.h"
#include "cpu/facets.h"
#include "onnx/ep_context.h"
#include "onnx/reader.h"
#include "sardonyx/compile.h"
#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

using Bytes = std::vector<std::byte>;

Bytes read_bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

class LoadCompiled : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("m.onnx", small_model());
    compile(folder_ / "m.onnx");
  }

  static Bytes small_model() {
    return model_bytes(
        "m (float[N,2] x) => (float[N,2] y) <float[2] w = {3, 4}> { y = Mul(x, w) }");
  }

  // Rewrites the wrapper after `change`.
  void rewrite(const std::function<void(Model&, Node&)>& change, const char* name = "m_ctx.onnx") {
    const std::unique_ptr<Model> model = read_model((folder_ / "m_ctx.onnx").string());
    change(*model, model->graph->node(model->graph->order()[0]));
    write_model(*model, (folder_ / name).string());
  }

  std::string load_error(ErrorCode code, const char* name = "m_ctx.onnx") {
    return message_of(code, [&] { Session(folder_ / name); });
  }

  TemporaryFolder folder_;
};

TEST_F(LoadCompiled, AnotherProvidersNodeNamesItAndWhatIsHere) {
  rewrite([](Model&, Node& node) {
    node.attributes.set("source", std::string("QNNExecutionProvider"));
  });
  expect_mentions(
      load_error(ErrorCode::kNotImplemented),
      {"CPUExecutionProvider_0", "QNNExecutionProvider", "available: CPUExecutionProvider"});
}

TEST_F(LoadCompiled, MixedModelsAreRefused) {
  rewrite([](Model& model, Node&) {
    Graph& graph = *model.graph;
    Node relu;
    relu.op = "Relu";
    relu.version = 14;
    relu.inputs = {graph.outputs()[0]};
    const ValueId out = graph.add_value("z", graph.value(graph.outputs()[0]).type);
    relu.outputs = {out};
    graph.add_node(relu);
    graph.set_output(0, out);
  });
  expect_mentions(load_error(ErrorCode::kNotImplemented), {"1 nodes"});
}

TEST_F(LoadCompiled, PathsThatLeadOutAreRefused) {
  const fs::path outside = fs::temp_directory_path() / ("sdx_outside_" + std::to_string(getpid()));
  fs::copy_file(folder_ / "m_CPUExecutionProvider.bin", outside,
                fs::copy_options::overwrite_existing);
  fs::create_symlink(outside, folder_ / "link.bin");
  struct Row {
    std::string location;
    ErrorCode code;
    const char* word;
  };
  const Row rows[] = {{"", ErrorCode::kInvalidGraph, "is empty"},
                      {outside.string(), ErrorCode::kInvalidGraph, "absolute"},
                      {"../" + outside.filename().string(), ErrorCode::kInvalidGraph, ".."},
                      {"link.bin", ErrorCode::kInvalidGraph, "leads out"},
                      {std::string("a\0b", 3), ErrorCode::kInvalidGraph, "NUL"},
                      {"gone.bin", ErrorCode::kNoSuchFile, "gone.bin"},
                      {".", ErrorCode::kInvalidGraph, "leads out"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.location);
    rewrite([&](Model&, Node& node) { node.attributes.set("ep_cache_context", row.location); },
            "bad_ctx.onnx");
    expect_mentions(load_error(row.code, "bad_ctx.onnx"), {row.word});
  }
  fs::remove(outside);
}

TEST_F(LoadCompiled, LinksThatStayInsideWork) {
  fs::create_directory(folder_ / "blobs");
  fs::create_directory(folder_ / "snapshot");
  for (const char* name : {"m_ctx.onnx", "m_CPUExecutionProvider.bin"}) {
    fs::rename(folder_ / name, folder_ / "blobs" / name);
    fs::create_symlink(fs::path("../blobs") / name, folder_ / "snapshot" / name);
  }
  EXPECT_NO_THROW(Session(folder_ / "snapshot" / "m_ctx.onnx"));
}

TEST_F(LoadCompiled, FromMemoryNeedsTheFolderOfTheFile) {
  const Bytes wrapper = read_bytes(folder_ / "m_ctx.onnx");
  expect_mentions(message_of(ErrorCode::kInvalidArgument,
                             [&] { Session{std::span<const std::byte>(wrapper)}; }),
                  {"m_CPUExecutionProvider.bin", "external_data_folder"});
  Options options;
  options.external_data_folder = (folder_ / "m.onnx").parent_path();
  EXPECT_NO_THROW(Session(std::span<const std::byte>(wrapper), options));
}

TEST_F(LoadCompiled, TheCompiledFileAloneIsAModel) {
  const Session session(folder_ / "m_CPUExecutionProvider.bin");
  EXPECT_EQ(to_vector(session.run(std::vector<Value>{floats({1, 2}, {1, 2})})[0]),
            (std::vector<float>{3, 8}));
}

TEST_F(LoadCompiled, DimensionsCannotBeFixedAnyMore) {
  Options options;
  options.free_dimensions["N"] = 2;
  expect_mentions(
      message_of(ErrorCode::kInvalidArgument, [&] { Session(folder_ / "m_ctx.onnx", options); }),
      {"compiled"});
  options.free_dimensions = {};
  options.disabled_passes = {"no_such"};
  expect_mentions(
      message_of(ErrorCode::kInvalidArgument, [&] { Session(folder_ / "m_ctx.onnx", options); }),
      {"'no_such'"});
}

// x -> part 1 -> t -> part 2 -> y, both embedded.
TEST_F(LoadCompiled, SeveralPartsRunAsOne) {
  for (const bool swapped : {false, true}) {
    std::vector<std::string> blobs;
    for (int i = 0; i < 2; ++i) {
      Bytes compiled;
      CompileOptions options;
      const Bytes source = model_bytes(
          i == 0 ? "a (float[N,2] x) => (float[N,2] t) <float[2] w = {3, 4}> { t = Mul(x, w) }"
                 : R"(b (float[N,2] t, bool[] c) => (float[N,2] y) <float[2] k = {1, 1}> {
                      y = If(c) <then_branch = yes () => (r) { r = Add(t, k) },
                                 else_branch = no () => (r) { r = Sub(t, k) }> })");
      compile_to(std::span<const std::byte>(source), [&](std::span<const std::byte> bytes) {
        compiled.insert(compiled.end(), bytes.begin(), bytes.end());
      });
      const auto found = find_ep_context(compiled);
      const auto blob = found->nodes[0].cache_context;
      blobs.emplace_back(reinterpret_cast<const char*>(blob.data()), blob.size());
    }
    Model model;
    model.ir_version = 8;
    model.opset_imports = {{"", 17}, {"com.microsoft", 1}};
    model.graph = std::make_unique<Graph>();
    Graph& graph = *model.graph;
    const auto type = ValueType::tensor(DataType::kFloat, Dims{graph.dims().symbol("N"), Dim(2)});
    const ValueId x = graph.add_input("x", type);
    const ValueId c = graph.add_input("c", ValueType::tensor(DataType::kBool, Dims{}));
    const ValueId t = graph.add_value("t", type), y = graph.add_value("y", type);
    for (int i = 0; i < 2; ++i) {
      Node node;
      node.domain = "com.microsoft";
      node.op = "EPContext";
      node.version = 1;
      node.name = "part" + std::to_string(i);
      node.attributes.set("embed_mode", int64_t{1});
      node.attributes.set("source", std::string("CPUExecutionProvider"));
      node.attributes.set("ep_cache_context", blobs[swapped ? 1 - i : i]);
      if (i == 0) {
        node.inputs = {x};
        node.outputs = {t};
      } else {
        node.inputs = {t, c};
        node.outputs = {y};
      }
      graph.add_node(node);
    }
    graph.add_output(y);
    const Bytes bytes = write_model(model);
    if (swapped) {
      expect_mentions(
          message_of(ErrorCode::kInvalidGraph, [&] { Session{std::span<const std::byte>(bytes)}; }),
          {"part0", "inputs"});
      continue;
    }
    const Session session{std::span<const std::byte>(bytes)};
    ASSERT_EQ(session.inputs().size(), 2u);
    EXPECT_EQ(session.inputs()[0].type, "float[N,2]");
    EXPECT_TRUE(session.inputs()[1].has_shape && session.inputs()[1].shape.empty());
    Value flag = Value::tensor(ElementType::kBool, std::vector<int64_t>{});
    for (const bool value : {true, false}) {
      flag.as<bool>()[0] = value;
      EXPECT_EQ(to_vector(session.run(std::vector<Value>{floats({1, 2}, {1, 2}), flag})[0]),
                value ? (std::vector<float>{4, 9}) : (std::vector<float>{2, 7}));
    }
  }
}

// Each row changes what a compiled file says it needs.
TEST_F(LoadCompiled, VerdictsNameTheFacetThatDecides) {
  const artifact::CompiledPart part =
      artifact::read_artifact((folder_ / "m_CPUExecutionProvider.bin").string());
  const Isa best = best_isa();
  struct Row {
    const char* name;
    std::function<void(artifact::Facets&)> change;
    Compatibility compatibility;
    const char* facet;
  };
  const Row rows[] = {
      {"as it is", [](artifact::Facets&) {}, Compatibility::kOptimal, ""},
      {"a level no machine has", [](artifact::Facets& f) { f.required_isa = {"avx9000"}; },
       Compatibility::kUnsupported, "isa"},
      {"a target that is not on its list",
       [](artifact::Facets& f) {
         f.target = "avx9000";
         f.required_isa = {};
       },
       Compatibility::kUnsupported, "isa"},
      {"another architecture", [](artifact::Facets& f) { f.architecture = "riscv64"; },
       Compatibility::kUnsupported, "architecture"},
      {"a row that is gone", [](artifact::Facets& f) { f.rows["ai.sardonyx.OldGemm"] = 1; },
       Compatibility::kUnsupported, "row"},
      {"a row of another version", [](artifact::Facets& f) { f.rows["Mul"] = 99; },
       Compatibility::kUnsupported, "row"},
      {"another provider", [](artifact::Facets& f) { f.provider = "OtherExecutionProvider"; },
       Compatibility::kNotApplicable, "provider"},
      {"a better level is here",
       [](artifact::Facets& f) {
         f.target = to_string(Isa::kBaseline);
         f.required_isa = {};
       },
       best == Isa::kBaseline ? Compatibility::kOptimal : Compatibility::kPreferRecompilation,
       best == Isa::kBaseline ? "" : "target"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    artifact::CompiledPart changed = part;
    row.change(changed.facets);
    const std::string file = (folder_ / "changed.bin").string();
    artifact::write_artifact(changed, {}, file);
    const Verdict of_file = check_compatibility(folder_ / "changed.bin");
    EXPECT_EQ(of_file.compatibility, row.compatibility) << of_file.reason;
    EXPECT_EQ(of_file.facet, row.facet);
    const Verdict of_info = check_compatibility_info(artifact::compatibility_info(changed.facets));
    EXPECT_EQ(of_info.compatibility, row.compatibility);
    EXPECT_EQ(of_info.facet, row.facet);
    std::string log;
    Options options;
    options.log = [&](LogLevel, std::string_view line) { log += line; };
    if (row.compatibility == Compatibility::kUnsupported ||
        row.compatibility == Compatibility::kNotApplicable) {
      const std::string message =
          message_of(ErrorCode::kFail, [&] { Session(folder_ / "changed.bin", options); });
      expect_mentions(message, {of_file.reason});
    } else {
      EXPECT_NO_THROW(Session(folder_ / "changed.bin", options));
      EXPECT_EQ(log.empty(), row.compatibility == Compatibility::kOptimal) << log;
    }
  }
}

TEST_F(LoadCompiled, PreparedShapesMustFit) {
  artifact::CompiledPart part =
      artifact::read_artifact((folder_ / "m_CPUExecutionProvider.bin").string());
  const std::string file = (folder_ / "changed.bin").string();
  for (const Shape& shape : {Shape{1, 3}, Shape{2}, Shape{int64_t{1} << 62, 2}}) {
    part.shapes = {{shape}};
    artifact::write_artifact(part, {}, file);
    expect_mentions(load_error(ErrorCode::kFail, "changed.bin"), {"x", to_string(shape)});
  }
  part.shapes = {{Shape{3, 2}}, {Shape{int64_t{1} << 40, 2}}};
  artifact::write_artifact(part, {}, file);
  std::string log;
  Options options;
  options.log = [&](LogLevel, std::string_view line) { log += line; };
  EXPECT_NO_THROW(Session(folder_ / "changed.bin", options)) << "no Run has asked for so much yet";
  expect_mentions(log, {"not prepared", "[1099511627776,2]", "memory"});
}

TEST_F(LoadCompiled, VerdictsOfOtherFiles) {
  EXPECT_EQ(check_compatibility(folder_ / "m.onnx").compatibility, Compatibility::kNotApplicable);
  EXPECT_EQ(check_compatibility(folder_ / "m.onnx").facet, "metadata");
  EXPECT_EQ(check_compatibility_info("").compatibility, Compatibility::kNotApplicable);
  rewrite([](Model& model, Node&) { model.metadata[0].first = "ep_compatibility_info.Other"; });
  EXPECT_EQ(check_compatibility(folder_ / "m_ctx.onnx").compatibility, Compatibility::kOptimal);
  EXPECT_NO_THROW(Session(folder_ / "m_ctx.onnx"));  // missing metadata is no error
  message_of(ErrorCode::kNoSuchFile, [&] { check_compatibility(folder_ / "none.onnx"); });
  message_of(ErrorCode::kFail, [&] { check_compatibility_info("nonsense"); });
}

// Sessions of damaged files: an error, or the right answer; never anything else.
TEST_F(LoadCompiled, DamagedBytesAreFoundOrHarmless) {
  const Bytes good = read_bytes(folder_ / "m_CPUExecutionProvider.bin");
  const std::vector<Value> inputs = {floats({1, 2}, {1, 2})};
  size_t refused = 0;
  const auto try_file = [&](const Bytes& bytes) {
    folder_.write("m_CPUExecutionProvider.bin", bytes);
    try {
      Options options;
      options.threads = 1;
      options.verify_compiled = VerifyCompiled::kFull;
      const Session session(folder_ / "m_ctx.onnx", options);
      EXPECT_EQ(to_vector(session.run(inputs)[0]), (std::vector<float>{3, 8}));
    } catch (const Error&) {
      ++refused;
    }
  };
  for (size_t i = 0; i < good.size(); i += i < 4096 ? 7 : 61) {
    Bytes bad = good;
    bad[i] ^= std::byte{0x41};
    try_file(bad);
  }
  EXPECT_GT(refused, 100u);
  for (size_t size = 0; size < good.size(); size += 257) {
    const size_t before = refused;
    try_file(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_EQ(refused, before + 1) << size;
  }
}

TEST_F(LoadCompiled, DamagedWrappersAreRefusedOrHarmless) {
  const Bytes good = read_bytes(folder_ / "m_ctx.onnx");
  for (size_t i = 0; i < good.size(); ++i) {
    for (const auto flip : {std::byte{1}, std::byte{0x80}}) {
      Bytes bad = good;
      bad[i] ^= flip;
      folder_.write("bad_ctx.onnx", bad);
      try {
        const Session session(folder_ / "bad_ctx.onnx");
        (void)session.run(std::vector<Value>{floats({1, 2}, {1, 2})});
      } catch (const Error&) {
      }
      try {
        (void)check_compatibility(folder_ / "bad_ctx.onnx");
      } catch (const Error&) {
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx
