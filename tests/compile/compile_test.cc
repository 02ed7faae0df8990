// Compiled models from the outside: same bits, same interface, where files go, what is refused.
#include "sardonyx/compile.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/mapped_file.h"
#include "onnx/ep_context.h"
#include "onnx/reader.h"
#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

struct ModelCase {
  const char* name;
  const char* text;
  std::vector<Value> inputs;
};

Value ints(const std::vector<int64_t>& shape, const std::vector<int64_t>& values) {
  return Value::copy_of<int64_t>(values, shape);
}

Value flag(bool value) {
  Value result = Value::tensor(ElementType::kBool, std::vector<int64_t>{});
  result.as<bool>()[0] = value;
  return result;
}

Value scalar(float value) {
  return Value::copy_of<float>(std::vector<float>{value}, std::vector<int64_t>{});
}

std::vector<ModelCase> model_cases() {
  std::vector<ModelCase> cases;
  cases.push_back({"layers",
                   R"(m (float[N,256] x) => (float[N,256] y)
                      <float[256,512] a = {1, ...}, float[512,256] b = {1, ...}> {
                      h = MatMul(x, a) r = Relu(h) y = MatMul(r, b) })",
                   {wave({3, 256})}});
  cases.push_back({"conv",
                   R"(m (float[N,3,H,W] x) => (float[N,16,P,Q] y)
                      <float[16,3,3,3] w = {1, ...}, float[16] b = {0.5, ...}> {
                      c = Conv<pads = [1,1,1,1], kernel_shape = [3,3]>(x, w, b)
                      r = Relu(c) y = MaxPool<kernel_shape = [2,2], strides = [2,2]>(r) })",
                   {wave({2, 3, 9, 11})}});
  cases.push_back({"scalar input", "m (float[] x) => (float[] y) { y = Exp(x) }", {scalar(0.5f)}});
  cases.push_back({"default",
                   R"(m (float[N,3] x, float[3] w = {1, 2, 3}) => (float[N,3] y) {
                      y = Mul(x, w) })",
                   {wave({2, 3}), Value()}});
  cases.push_back({"input is output",
                   "m (float[N] x) => (float[N] x, float[N] y) { y = Neg(x) }",
                   {wave({4})}});
  cases.push_back({"constant output",
                   "m (float[N] x) => (float[2] y) { y = Constant<value = float[2] {3, 4}>() }",
                   {wave({4})}});
  cases.push_back({"no inputs", "m () => (float[2] y) <float[2] c = {1, 2}> { y = Neg(c) }", {}});
  cases.push_back({"strings",
                   R"(m (string[N] x) => (string[N] y, bool[N] z)
                      <string[1] c = {"a\x00b"}> { z = Equal(x, c) y = Identity(x) })",
                   {[] {
                     Value value = Value::tensor(ElementType::kString, std::vector<int64_t>{2});
                     value.as<std::string>()[0] = std::string("a\0b", 3);
                     value.as<std::string>()[1] = "zwei";
                     return value;
                   }()}});
  cases.push_back({"if",
                   R"(m (bool[] c, float[N] x) => (float[N] y) <float[1] k = {5}> {
                      y = If(c) <then_branch = yes () => (r) { r = Add(x, k) },
                                 else_branch = no () => (r) { r = Mul(x, x) }> })",
                   {flag(false), wave({5})}});
  cases.push_back({"loop",
                   R"(m (int64[] n, float[N] x) => (float[N] y, float[M,N] all) {
                      t = Constant<value = bool {1}>()
                      y, all = Loop(n, t, x) <body = step (int64[] i, bool[] c, float[N] v)
                          => (bool[] d, float[N] w, float[N] s) {
                          d = Identity(c) w = Add(v, x) s = Exp(v) }> })",
                   {ints({}, {3}), wave({4})}});
  cases.push_back({"small types",
                   R"(m (float[4] x) => (float[4] y, float[4] z)
                      <int4[4] q = {-8, 7, 1, 0}, float s = {0.5}, float16[4] h = {1, 2, 3, 4}> {
                      d = DequantizeLinear(q, s) y = Add(x, d)
                      f = Cast<to = 1>(h) z = Mul(x, f) })",
                   {wave({4})}});
  return cases;
}

void expect_same(const std::vector<Value>& actual, const std::vector<Value>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_EQ(actual[i].element_type(), expected[i].element_type());
    ASSERT_TRUE(std::ranges::equal(actual[i].shape(), expected[i].shape()));
    if (expected[i].element_type() == ElementType::kString) {
      EXPECT_EQ(elements<std::string>(actual[i]), elements<std::string>(expected[i]));
    } else {
      EXPECT_EQ(std::memcmp(actual[i].data(), expected[i].data(), actual[i].size_bytes()), 0)
          << "output " << i;
    }
  }
}

void expect_same_interface(const Session& actual, const Session& expected) {
  const auto compare = [](const std::vector<ValueInfo>& a, const std::vector<ValueInfo>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].name, b[i].name);
      EXPECT_EQ(a[i].type, b[i].type);
      EXPECT_EQ(a[i].has_shape, b[i].has_shape);
      EXPECT_EQ(a[i].shape, b[i].shape);
      EXPECT_EQ(a[i].symbols, b[i].symbols);
      EXPECT_EQ(a[i].is_optional, b[i].is_optional);
    }
  };
  compare(actual.inputs(), expected.inputs());
  compare(actual.outputs(), expected.outputs());
  EXPECT_EQ(actual.metadata().custom, expected.metadata().custom);
  EXPECT_EQ(actual.metadata().graph_name, expected.metadata().graph_name);
  EXPECT_EQ(actual.metadata().opset_imports, expected.metadata().opset_imports);
}

std::vector<std::byte> compile_to_memory(std::span<const std::byte> model,
                                         const CompileOptions& options = {}) {
  std::vector<std::byte> result;
  compile_to(
      model,
      [&](std::span<const std::byte> bytes) {
        result.insert(result.end(), bytes.begin(), bytes.end());
      },
      options);
  return result;
}

class Compile : public ::testing::Test {
 protected:
  size_t count_files() const {
    const fs::directory_iterator all((folder_ / "m.onnx").parent_path());
    return static_cast<size_t>(std::distance(begin(all), end(all)));
  }

  TemporaryFolder folder_;
};

TEST_F(Compile, GivesTheSameBitsFromFilesAndMemory) {
  for (const ModelCase& each : model_cases()) {
    SCOPED_TRACE(each.name);
    const std::vector<std::byte> source = model_bytes(each.text);
    folder_.write("m.onnx", source);
    CompileOptions options;
    options.overwrite = true;
    compile(folder_ / "m.onnx", {}, options);
    options.embed = true;
    compile(folder_ / "m.onnx", folder_ / "one_ctx.onnx", options);
    const std::vector<std::byte> in_memory = compile_to_memory(source);
    for (int threads : {1, 2}) {
      Options run;
      run.threads = threads;
      run.verify_compiled = threads == 2 ? VerifyCompiled::kFull : VerifyCompiled::kBackground;
      const Session plain(folder_ / "m.onnx", run);
      const std::unique_ptr<Model> wrapper = read_model((folder_ / "m_ctx.onnx").string());
      ASSERT_EQ(wrapper->graph->inputs().size(), plain.inputs().size());
      for (size_t i = 0; i < plain.inputs().size(); ++i) {
        const GraphValue& input = wrapper->graph->value(wrapper->graph->inputs()[i]);
        EXPECT_EQ(print_type(input.type, wrapper->graph->dims()), plain.inputs()[i].type);
      }
      const std::vector<Value> expected = plain.run(each.inputs);
      for (const char* name : {"m_ctx.onnx", "one_ctx.onnx"}) {
        const Session session(folder_ / name, run);
        expect_same_interface(session, plain);
        expect_same(session.run(each.inputs), expected);
      }
      const Session session(std::span<const std::byte>(in_memory), run);
      expect_same_interface(session, plain);
      expect_same(session.run(each.inputs), expected);
    }
    EXPECT_EQ(check_compatibility(folder_ / "m_ctx.onnx").compatibility, Compatibility::kOptimal);
    EXPECT_EQ(check_compatibility(std::span<const std::byte>(in_memory)).compatibility,
              Compatibility::kOptimal);
  }
}

TEST_F(Compile, IsDeterministic) {
  EXPECT_EQ(compile_to_memory(two_layers()), compile_to_memory(two_layers()));
}

TEST_F(Compile, KeepsMemoryAModelNoLongerNeeds) {
  std::vector<std::byte> compiled = compile_to_memory(two_layers());
  const Session plain{std::span<const std::byte>(two_layers())};
  const Session session{std::span<const std::byte>(compiled)};
  std::fill(compiled.begin(), compiled.end(), std::byte{0xee});
  compiled = {};
  const std::vector<Value> inputs = {wave({2, 256})};
  expect_same(session.run(inputs), plain.run(inputs));
}

TEST_F(Compile, WritesAnEpContextNode) {
  folder_.write("m.onnx", model_bytes(R"(<ir_version: 8, opset_import: ["": 17],
      producer_name: "p", metadata_props: ["k": "v"]>
      m (float[N,2] x) => (float[N,2] y) { y = Relu(x) })"));
  const CompileReport report = compile(folder_ / "m.onnx");
  EXPECT_EQ(report.model, folder_ / "m_ctx.onnx");
  EXPECT_EQ(report.compiled, folder_ / "m_CPUExecutionProvider.bin");
  EXPECT_EQ(report.model_bytes, fs::file_size(report.model));
  EXPECT_EQ(report.compiled_bytes, fs::file_size(report.compiled));
  const std::unique_ptr<Model> model = read_model(report.model.string());
  EXPECT_EQ(model->producer_name, "p");
  ASSERT_EQ(model->graph->order().size(), 1u);
  const Node& node = model->graph->node(model->graph->order()[0]);
  EXPECT_EQ(node.op, "EPContext");
  EXPECT_EQ(node.domain, "com.microsoft");
  EXPECT_EQ(node.attributes.get_int("main_context", 0), 1);
  EXPECT_EQ(node.attributes.get_int("embed_mode", 1), 0);
  EXPECT_EQ(node.attributes.get_string("source", ""), "CPUExecutionProvider");
  EXPECT_EQ(node.attributes.get_string("ep_cache_context", ""), "m_CPUExecutionProvider.bin");
  ASSERT_EQ(model->metadata.size(), 2u);
  EXPECT_EQ(model->metadata[0].first, "k");
  EXPECT_EQ(model->metadata[1].first, "ep_compatibility_info.CPUExecutionProvider");
  EXPECT_EQ(check_compatibility_info(model->metadata[1].second).compatibility,
            Compatibility::kOptimal);
  EXPECT_EQ(print_type(model->graph->value(model->graph->inputs()[0]).type, model->graph->dims()),
            "float[N,2]");
}

TEST_F(Compile, EmbedsWhereItCanBeMapped) {
  const std::vector<std::byte> compiled = compile_to_memory(two_layers());
  const auto found = find_ep_context(compiled);
  ASSERT_TRUE(found.has_value());
  const auto offset = found->nodes[0].cache_context.data() - compiled.data();
  EXPECT_EQ(offset % 64, 0);
  EXPECT_GT(found->nodes[0].cache_context.size(), 1000000u);
}

TEST_F(Compile, RefusesOutputsBeforeCompiling) {
  folder_.write("m.onnx", two_layers());
  fs::create_directory(folder_ / "folder.onnx");
  ASSERT_EQ(mkfifo((folder_ / "pipe.onnx").c_str(), 0600), 0);
  folder_.write("taken.onnx", two_layers());
  folder_.write("half_CPUExecutionProvider.bin", two_layers());
  fs::create_directory(folder_ / "folder");
  fs::create_symlink("m.onnx", folder_ / "link.onnx");
  constexpr ErrorCode kBad = ErrorCode::kInvalidArgument;
  struct Row {
    fs::path output;
    const char* word;
    ErrorCode code;
    bool overwrite;  // does not help
  };
  const Row rows[] = {
      {folder_ / "taken.onnx", "exists", kBad, false},
      {folder_ / "taken.onnx", "is no compiled model", kBad, true},
      {folder_ / "half_ctx.onnx", "half_CPUExecutionProvider.bin' exists", kBad, false},
      {folder_ / "half_ctx.onnx", "is no compiled model", kBad, true},
      {folder_ / "folder.onnx", "a folder", kBad, true},
      {folder_ / "folder", "a folder", kBad, true},
      {"/dev/null/x.onnx", "no folder", kBad, true},
      {folder_ / "pipe.onnx", "a device, pipe or socket", kBad, true},
      {folder_ / "none" / "m_ctx.onnx", "no folder", kBad, true},
      {folder_ / "plain", "no extension", kBad, true},
      {folder_ / "m.onnx", "the model itself", kBad, true},
      {folder_ / "link.onnx", "the model itself", kBad, true},
      {"/proc/self/m_ctx.onnx", "the folder must be there and writable", ErrorCode::kFail, true}};
  const auto old_bytes = read_file((folder_ / "taken.onnx").string());
  for (const Row& row : rows) {
    SCOPED_TRACE(row.output);
    bool started = false;
    CompileOptions options;
    options.overwrite = row.overwrite;
    options.options.progress = [&](std::string_view, double) { started = true; };
    const std::string message =
        message_of(row.code, [&] { compile(folder_ / "m.onnx", row.output, options); });
    expect_mentions(message, {row.word});
    EXPECT_FALSE(started);
  }
  for (const char* name : {"m.onnx", "taken.onnx", "half_CPUExecutionProvider.bin"}) {
    EXPECT_EQ(read_file((folder_ / name).string()), old_bytes) << name;
  }
  EXPECT_EQ(count_files(), 7u);
}

TEST_F(Compile, LeavesOldFilesWhenItFails) {
  folder_.write("m.onnx", two_layers());
  compile(folder_ / "m.onnx");
  const auto before = fs::last_write_time(folder_ / "m_ctx.onnx");
  CompileOptions options;
  options.overwrite = true;
  options.options.cancel.cancel();
  message_of(ErrorCode::kModelLoadCanceled, [&] { compile(folder_ / "m.onnx", {}, options); });
  EXPECT_EQ(fs::last_write_time(folder_ / "m_ctx.onnx"), before);
  EXPECT_EQ(count_files(), 3u);
  EXPECT_NO_THROW(Session(folder_ / "m_ctx.onnx"));
}

// A process that is killed while it writes leaves temporary files, which the next one removes.
TEST_F(Compile, CleansUpAfterAKilledOne) {
  folder_.write("m.onnx", two_layers());
  for (const bool embed : {false, true}) {
    CompileOptions options;
    options.embed = embed;
    options.overwrite = true;
    const pid_t child = fork();
    if (child == 0) {
      options.options.progress = [&](std::string_view stage, double done) {
        if (stage == "write" && done > 0.95) raise(SIGKILL);
      };
      compile(folder_ / "m.onnx", {}, options);
      _exit(1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    EXPECT_EQ(count_files(), embed ? 4u : 3u);  // the model and what was being written
    compile(folder_ / "m.onnx", {}, options);
    EXPECT_EQ(count_files(), 3u);
    EXPECT_NO_THROW(Session(folder_ / "m_ctx.onnx"));
  }
}

TEST_F(Compile, RefusesWhatMakesNoSense) {
  const std::vector<std::byte> model = two_layers();
  CompileOptions options;
  options.target = "x86-64-v9";
  expect_mentions(
      message_of(ErrorCode::kInvalidArgument, [&] { compile_to_memory(model, options); }),
      {"x86-64-v9", "native"});
  options.target = "native";
  double done = 0;
  options.options.progress = [&](std::string_view, double now) { done = std::max(done, now); };
  options.shapes = {{{"z", {1, 2}}}};
  expect_mentions(
      message_of(ErrorCode::kInvalidArgument, [&] { compile_to_memory(model, options); }),
      {"no input 'z'"});
  options.shapes = {{{"x", {1, 2}}}};
  expect_mentions(
      message_of(ErrorCode::kInvalidArgument, [&] { compile_to_memory(model, options); }),
      {"x", "float[N,256]"});
  EXPECT_LE(done, 0.1) << "refused after the model had been read and before it was compiled";
  options.shapes = {};
  const std::vector<std::byte> compiled = compile_to_memory(model);
  expect_mentions(message_of(ErrorCode::kInvalidGraph, [&] { compile_to_memory(compiled); }),
                  {"compiled already"});
  message_of(ErrorCode::kInvalidArgument, [&] { compile(std::span(model)); });
}

TEST_F(Compile, PreparesShapes) {
  CompileOptions options;
  options.shapes = {{{"x", {1, 256}}}, {{"x", {7, 256}}}};
  const std::vector<std::byte> compiled = compile_to_memory(two_layers(), options);
  const Session session{std::span<const std::byte>(compiled)};
  const Session plain{std::span<const std::byte>(two_layers())};
  const std::vector<Value> inputs = {wave({7, 256})};
  expect_same(session.run(inputs), plain.run(inputs));
}

TEST_F(Compile, EveryTargetThisMachineHasGivesAModel) {
  folder_.write("m.onnx", two_layers());
  const Session plain{std::span<const std::byte>(two_layers())};
  const std::vector<Value> inputs = {wave({3, 256})};
  const std::vector<float> expected = to_vector(plain.run(inputs)[0]);
#if defined(__x86_64__)
  constexpr const char* kTargets[] = {"baseline", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
#else
  constexpr const char* kTargets[] = {"baseline"};
#endif
  for (const char* target : kTargets) {
    SCOPED_TRACE(target);
    CompileOptions options;
    options.target = target;
    const std::vector<std::byte> compiled = compile_to_memory(two_layers(), options);
    const Verdict verdict = check_compatibility(std::span<const std::byte>(compiled));
    if (verdict.compatibility == Compatibility::kUnsupported) {
      expect_mentions(verdict.reason, {"needs"});
      expect_mentions(
          message_of(ErrorCode::kFail, [&] { Session(std::span<const std::byte>(compiled)); }),
          {"cannot run here"});
      continue;
    }
    std::string log;
    Options run;
    run.log = [&](LogLevel, std::string_view line) { log += line; };
    const Session session(std::span<const std::byte>(compiled), run);
    EXPECT_EQ(verdict.compatibility == Compatibility::kPreferRecompilation, !log.empty()) << log;
    const std::vector<float> actual = to_vector(session.run(inputs)[0]);
    for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-3);
  }
}

}  // namespace
}  // namespace sardonyx
