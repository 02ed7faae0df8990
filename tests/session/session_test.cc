// The public C++ interface from the outside: loading, checking of inputs, outputs, options.
#include "onnx/proto_builders.h"
#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

std::vector<std::byte> bytes_of(const proto::Message& message) {
  const auto data = message.result();
  return {data.begin(), data.end()};
}

// y = Relu(x) * w, x: [batch, 3]; w = {1, 2, 3} may be given as an input.
proto::Message scaled_relu() {
  proto::Message g;
  g.message(1, proto::node("Relu", {"x"}, {"r"}));
  g.message(1, proto::node("Mul", {"r", "w"}, {"y"}));
  g.text(2, "scaled");
  g.message(5, proto::float_tensor("w", {3}, {1, 2, 3}));
  g.message(11, proto::value("x", 1, {"batch", 3}));
  g.message(11, proto::value("w", 1, {3}));
  g.message(12, proto::value("y", 1, {"batch", 3}));
  proto::Message m = proto::model(g);
  m.text(2, "session_test");
  m.message(14, proto::entry("author", "somebody"));
  return m;
}

class SessionTest : public ::testing::Test {
 protected:
  std::vector<std::byte> model_ = bytes_of(scaled_relu());
  Value x_ = floats({2, 3}, {1, -1, 2, 0, 5, -6});
  const std::vector<float> y_ = {1, 0, 6, 0, 10, 0};
};

TEST_F(SessionTest, SaysWhatTheModelSays) {
  const Session session(model_);
  ASSERT_EQ(session.inputs().size(), 2u);
  EXPECT_EQ(session.inputs()[0].name, "x");
  EXPECT_EQ(session.inputs()[0].type, "float[batch,3]");
  EXPECT_EQ(session.inputs()[0].shape, (std::vector<int64_t>{-1, 3}));
  EXPECT_EQ(session.inputs()[0].symbols, (Strings{"batch", ""}));
  EXPECT_FALSE(session.inputs()[0].is_optional);
  EXPECT_TRUE(session.inputs()[1].is_optional);
  ASSERT_EQ(session.outputs().size(), 1u);
  EXPECT_EQ(session.outputs()[0].name, "y");
  EXPECT_EQ(session.outputs()[0].type, "float[batch,3]");
  EXPECT_EQ(session.metadata().graph_name, "scaled");
  EXPECT_EQ(session.metadata().producer_name, "session_test");
  EXPECT_EQ(session.metadata().custom.at("author"), "somebody");
  EXPECT_EQ(session.metadata().opset_imports.at(""), 17);
}

TEST_F(SessionTest, RunsByOrderAndByNameAtEveryLevel) {
  for (const OptimizationLevel level : {OptimizationLevel::kNone, OptimizationLevel::kBasic,
                                        OptimizationLevel::kExtended, OptimizationLevel::kAll}) {
    Options options;
    options.level = level;
    const Session session(model_, options);
    const std::vector<Value> ordered = {x_, Value()};
    EXPECT_EQ(to_vector(session.run(ordered)[0]), y_);
    const Strings wanted = {"y"};
    EXPECT_EQ(to_vector(session.run({{"x", x_}}, wanted)[0]), y_);
    const Value w = floats({3}, {1, 1, 1});
    EXPECT_EQ(to_vector(session.run({{"x", x_}, {"w", w}})[0]),
              (std::vector<float>{1, 0, 2, 0, 5, 0}));
  }
}

TEST_F(SessionTest, RefusesWrongInputsAndNamesThem) {
  const Session session(model_);
  const auto run = [&](const std::map<std::string, Value>& inputs) { session.run(inputs); };
  const auto bad = ErrorCode::kInvalidArgument;
  expect_mentions(message_of(bad, [&] { run({}); }), {"'x'", "float[batch,3]"});
  expect_mentions(message_of(bad, [&] { run({{"z", x_}}); }), {"'z'", "'x'", "'w'"});
  expect_mentions(message_of(bad,
                             [&] {
                               run({{"x", floats({2, 4}, std::vector<float>(8))}});
                             }),
                  {"'x'", "float[2,4]", "float[batch,3]"});
  expect_mentions(message_of(bad, [&] { run({{"x", floats({3}, {1, 2, 3})}}); }), {"float[3]"});
  const std::vector<int64_t> integers(6), shape = {2, 3};
  expect_mentions(message_of(bad,
                             [&] {
                               run({{"x", Value::copy_of<int64_t>(integers, shape)}});
                             }),
                  {"int64[2,3]", "float[batch,3]"});
  expect_mentions(message_of(bad, [&] { session.run(std::vector<Value>(3)); }), {"3", "2"});
  const Strings unknown = {"nothing"};
  expect_mentions(message_of(bad,
                             [&] {
                               session.run({{"x", x_}}, unknown);
                             }),
                  {"'nothing'", "'y'"});
}

TEST_F(SessionTest, WritesIntoTheCallersMemory) {
  const Session session(model_);
  std::vector<float> memory(6, -1);
  const std::vector<int64_t> shape = {2, 3}, other = {3, 2};
  const std::vector<Value> inputs = {x_, Value()};
  std::vector<Value> outputs = {
      Value::view(ElementType::kFloat, shape, memory.data(), memory.size() * sizeof(float))};
  session.run_into(inputs, outputs);
  EXPECT_EQ(memory, y_);
  outputs[0] = Value::view(ElementType::kFloat, other, memory.data(), 24);
  expect_mentions(
      message_of(ErrorCode::kInvalidArgument, [&] { session.run_into(inputs, outputs); }),
      {"'y'", "[2,3]", "[3,2]"});
}

TEST_F(SessionTest, ReturnsZeroSizeOutputs) {
  const Session session(model_);
  const std::vector<Value> results = session.run({{"x", floats({0, 3}, {})}});
  EXPECT_EQ(results[0].size(), 0u);
  EXPECT_EQ(results[0].shape()[1], 3);
}

TEST_F(SessionTest, FixesFreeDimensions) {
  Options options;
  options.free_dimensions = {{"batch", 2}};
  const Session session(model_, options);
  EXPECT_EQ(session.inputs()[0].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(to_vector(session.run({{"x", x_}})[0]), y_);
  message_of(ErrorCode::kInvalidArgument, [&] { session.run({{"x", floats({1, 3}, {1, 2, 3})}}); });
  options.free_dimensions = {{"height", 2}};
  expect_mentions(message_of(ErrorCode::kInvalidArgument, [&] { Session(model_, options); }),
                  {"'height'", "'batch'"});
}

TEST_F(SessionTest, SaysWhyAModelDoesNotLoad) {
  message_of(ErrorCode::kNoSuchFile, [] { Session(std::filesystem::path("no/such/model.onnx")); });
  const std::vector<std::byte> noise(100, std::byte{0xff});
  message_of(ErrorCode::kInvalidProtobuf, [&] { Session{std::span(noise)}; });
  proto::Message g;
  g.message(1, proto::node("Relus", {"x"}, {"y"}));
  g.text(2, "typo");
  g.message(11, proto::value("x", 1, {3}));
  g.message(12, proto::value("y", 1, {3}));
  const auto typo = bytes_of(proto::model(g));
  expect_mentions(message_of(ErrorCode::kNotImplemented, [&] { Session{std::span(typo)}; }),
                  {"Relus", "Relu"});
}

// What is newer than all that is known loads when it uses nothing new, with a warning.
TEST(Versions, WhatIsNewerIsSaid) {
  EXPECT_EQ(newest_ir_version(), 14);
  EXPECT_EQ(newest_opset(), 28);
  const std::string newest_ir = std::to_string(newest_ir_version());
  const std::string newest = std::to_string(newest_opset());
  const std::string newer_ir = std::to_string(newest_ir_version() + 1);
  const std::string newer = std::to_string(newest_opset() + 1);
  struct Row {
    const std::string &ir, &opset;
    std::vector<std::string> warnings;
  };
  for (const Row& row : std::vector<Row>{{newest_ir, newest, {}},
                                         {newer_ir, newest, {newer_ir, newest_ir}},
                                         {newest_ir, newer, {newer, newest}},
                                         {newer_ir, newer, {newer_ir, newest_ir, newer, newest}}}) {
    std::string log;
    Options options;
    options.log = [&](LogLevel, std::string_view line) { log += line; };
    const Session session(
        model_bytes("<ir_version: " + row.ir + ", opset_import: [\"\": " + row.opset +
                    "]> m (float[N] x) => (float[N] y) { y = Sigmoid(x) }"),
        options);
    EXPECT_EQ(to_vector(session.run({{"x", floats({1}, {0})}})[0]), std::vector<float>{0.5f});
    EXPECT_EQ(log.empty(), row.warnings.empty()) << log;
    expect_mentions(log, row.warnings);
  }
}

TEST_F(SessionTest, StopsWhenCancelled) {
  Options options;
  options.cancel.cancel();
  message_of(ErrorCode::kModelLoadCanceled, [&] { Session(model_, options); });
  const Session session(model_);
  RunOptions run_options;
  run_options.cancel.cancel();
  message_of(ErrorCode::kFail, [&] { session.run({{"x", x_}}, {}, run_options); });
  EXPECT_EQ(to_vector(session.run({{"x", x_}})[0]), y_);
}

class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~ScopedVariable() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST_F(SessionTest, LogsWhatItDidWhenAsked) {
  Options options;
  std::vector<std::pair<LogLevel, std::string>> lines;
  options.log = [&](LogLevel level, std::string_view line) { lines.emplace_back(level, line); };
  Session(model_, options);
  EXPECT_TRUE(lines.empty());
  options.log_level = LogLevel::kVerbose;
  Session(model_, options);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].first, LogLevel::kVerbose);
  EXPECT_EQ(lines[3].first, LogLevel::kInfo);
  EXPECT_EQ(lines[3].second.rfind("2 nodes became 2 steps in ", 0), 0u) << lines[3].second;
}

TEST_F(SessionTest, TheEnvironmentSetsTheLogLevelThatOptionsLeaveOpen) {
  struct Case {
    const char* variable;
    std::optional<LogLevel> option;
    size_t lines;
  };
  for (const Case& each : std::vector<Case>{{"verbose", std::nullopt, 4},
                                            {"info", std::nullopt, 1},
                                            {"warning", std::nullopt, 0},
                                            {"", std::nullopt, 0},
                                            {"verbose", LogLevel::kOff, 0},
                                            {"off", LogLevel::kInfo, 1},
                                            {"loud", LogLevel::kInfo, 1}}) {
    const ScopedVariable variable("SARDONYX_LOG_LEVEL", each.variable);
    Options options;
    size_t lines = 0;
    options.log_level = each.option;
    options.log = [&](LogLevel, std::string_view) { ++lines; };
    Session(model_, options);
    EXPECT_EQ(lines, each.lines) << each.variable;
  }
  const ScopedVariable variable("SARDONYX_LOG_LEVEL", "loud");
  expect_mentions(message_of(ErrorCode::kInvalidArgument, [&] { Session session(model_); }),
                  {"SARDONYX_LOG_LEVEL is 'loud'", "verbose, info, warning, error, off"});
}

TEST_F(SessionTest, RefusesARunAboveTheMemoryLimit) {
  Options options;
  options.memory_limit_bytes = 4096;
  const Session session(model_, options);
  EXPECT_EQ(to_vector(session.run({{"x", x_}})[0]), y_);
  const Value big = floats({1000, 3}, std::vector<float>(3000));
  expect_mentions(message_of(ErrorCode::kFail,
                             [&] {
                               session.run({{"x", big}});
                             }),
                  {"12000 bytes for its outputs", "4096"});
}

TEST_F(SessionTest, ReportsProgress) {
  Options options;
  std::vector<double> seen;
  options.progress = [&](std::string_view, double done) { seen.push_back(done); };
  const Session session(model_, options);
  ASSERT_GE(seen.size(), 3u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 1.0);
}

TEST_F(SessionTest, OutputsOutliveTheSession) {
  Value y;
  {
    const Session session(model_);
    y = session.run({{"x", x_}})[0];
  }
  EXPECT_EQ(to_vector(y), y_);
}

TEST(ValueTest, ChecksSizes) {
  const std::vector<int64_t> negative = {2, -1}, huge = {INT64_MAX, 8}, shape = {4};
  message_of(ErrorCode::kInvalidArgument, [&] { Value::tensor(ElementType::kFloat, negative); });
  message_of(ErrorCode::kInvalidArgument, [&] { Value::tensor(ElementType::kFloat, huge); });
  float memory[2];
  message_of(ErrorCode::kInvalidArgument,
             [&] { Value::view(ElementType::kFloat, shape, memory, sizeof(memory)); });
  message_of(ErrorCode::kInvalidArgument,
             [&] { Value::tensor(ElementType::kFloat, shape).as<int64_t>(); });
}

}  // namespace
}  // namespace sardonyx
