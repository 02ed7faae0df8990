// Options and input values that make no sense: each is refused with an Error that
// names what was given, or means what its documentation says.
#include <gtest/gtest.h>

#include <climits>
#include <functional>
#include <string>
#include <vector>

#include "onnx/proto_builders.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx {
namespace {

// y = Relu(x), x: float[batch, 3].
std::vector<std::byte> relu() {
  proto::Message graph;
  graph.message(1, proto::node("Relu", {"x"}, {"y"}));
  graph.text(2, "g");
  graph.message(11, proto::value("x", 1, {"batch", 3}));
  graph.message(12, proto::value("y", 1, {"batch", 3}));
  const auto bytes = proto::model(graph).result();
  return {bytes.begin(), bytes.end()};
}

struct Outcome {
  ErrorCode code = ErrorCode::kOk;
  std::string message;
};

Outcome outcome_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

Outcome create_and_run(const Options& options) {
  return outcome_of([&] {
    const std::vector<std::byte> model = relu();
    const Session session(model, options);
    const std::vector<int64_t> shape = {2, 3};
    session.run({{"x", Value::tensor(ElementType::kFloat, shape)}});
  });
}

struct Row {
  const char* name;
  std::function<void(Options&)> set;
  ErrorCode code;
  std::vector<std::string> words;
};

TEST(BadOptions, AreRefusedOrHarmless) {
  constexpr ErrorCode kBad = ErrorCode::kInvalidArgument;
  constexpr ErrorCode kOk = ErrorCode::kOk;
  const std::vector<Row> rows = {
      {"threads -1", [](Options& o) { o.threads = -1; }, kBad, {"-1", "threads"}},
      {"lowest threads", [](Options& o) { o.threads = INT_MIN; }, kBad, {"-2147483648"}},
      {"unknown pass", [](Options& o) { o.disabled_passes = {"no_such"}; }, kBad, {"'no_such'"}},
      {"empty pass", [](Options& o) { o.disabled_passes = {""}; }, kBad, {"''"}},
      {"pass twice",
       [](Options& o) {
         o.disabled_passes = {"dead_code", "dead_code"};
       },
       kOk,
       {}},
      {"negative dimension",
       [](Options& o) {
         o.free_dimensions = {{"batch", -2}};
       },
       kBad,
       {"'batch'", "-2"}},
      {"unknown dimension",
       [](Options& o) {
         o.free_dimensions = {{"width", 2}};
       },
       kBad,
       {"'width'", "'batch'"}},
      {"dimension without name",
       [](Options& o) {
         o.free_dimensions = {{"", 2}};
       },
       kBad,
       {"''"}},
      {"dimension of another size",
       [](Options& o) {
         o.free_dimensions = {{"batch", 5}};
       },
       kBad,
       {"'x'", "[2,3]", "[5,3]"}},
      {"dimension of absurd size",
       [](Options& o) {
         o.free_dimensions = {{"batch", INT64_MAX}};
       },
       kBad,
       {}},
      {"a byte of memory", [](Options& o) { o.memory_limit_bytes = 1; }, ErrorCode::kFail, {"1"}},
      {"all the memory", [](Options& o) { o.memory_limit_bytes = SIZE_MAX; }, kOk, {}},
      {"unknown level", [](Options& o) { o.level = static_cast<OptimizationLevel>(-7); }, kOk, {}},
      {"level above all",
       [](Options& o) { o.level = static_cast<OptimizationLevel>(1 << 20); },
       kOk,
       {}},
      {"no edits", [](Options& o) { o.max_edits = 0; }, kOk, {}},
      {"lowest edits", [](Options& o) { o.max_edits = INT64_MIN; }, kOk, {}},
      {"folder that is none",
       [](Options& o) { o.external_data_folder = "/no/such/folder"; },
       ErrorCode::kNoSuchFile,
       {"/no/such/folder"}},
      {"level of the log", [](Options& o) { o.log_level = static_cast<LogLevel>(99); }, kOk, {}},
  };
  for (const Row& row : rows) {
    Options options;
    row.set(options);
    const Outcome outcome = create_and_run(options);
    EXPECT_EQ(outcome.code, row.code) << row.name << ": " << outcome.message;
    for (const std::string& word : row.words) {
      EXPECT_NE(outcome.message.find(word), std::string::npos)
          << row.name << ": no '" << word << "' in: " << outcome.message;
    }
  }
}

TEST(BadValues, AreRefused) {
  const std::vector<int64_t> two = {2}, huge = {int64_t{1} << 62},
                             overflow = {1 << 30, 1 << 30, 16};
  const auto tensor = [](ElementType type, const std::vector<int64_t>& shape) {
    return outcome_of([&] { Value::tensor(type, shape); });
  };
  EXPECT_EQ(tensor(ElementType::kFloat, {-1}).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(tensor(ElementType::kFloat, huge).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(tensor(ElementType::kDouble, overflow).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(tensor(ElementType::kUndefined, two).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(tensor(static_cast<ElementType>(99), two).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(tensor(static_cast<ElementType>(-1), two).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(outcome_of([&] { Value::view(ElementType::kFloat, two, nullptr, 8); }).code,
            ErrorCode::kInvalidArgument);
  const std::vector<float> three(3);
  EXPECT_EQ(outcome_of([&] { Value::copy_of<float>(three, two); }).code,
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace sardonyx
