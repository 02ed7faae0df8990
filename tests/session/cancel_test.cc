// Creates and Runs that another thread cancels end soon, with an error that says so; the session
// works on.
#include <time.h>

#include <chrono>
#include <thread>

#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

// What a cancel may still cost, in seconds of CPU, which do not depend on what else the machine
// does.
constexpr double kSoon = 1.5;

double cpu_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct LongRun {
  const char* name;
  const char* model;
  std::vector<int64_t> shape;  // of x
  std::vector<int64_t> small;
};

void PrintTo(const LongRun& each, std::ostream* out) { *out << each.name; }

class CancelTest : public ::testing::TestWithParam<LongRun> {};

// Without the cancel these would take from seconds to forever.
TEST_P(CancelTest, EndsALongRunSoon) {
  for (int threads : {1, 2}) {
    Options options;
    options.threads = threads;
    const Session session(model_bytes(GetParam().model), options);
    const Value x = wave(GetParam().shape);
    RunOptions run_options;
    double asked = 0;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      asked = cpu_seconds();
      run_options.cancel.cancel();
    });
    std::map<std::string, Value> inputs = {{"x", x}};
    if (session.inputs().size() == 2) {
      inputs["c"] = Value::tensor(ElementType::kBool, {});
      inputs["c"].as<bool>()[0] = true;
    }
    const std::string message =
        message_of(ErrorCode::kFail, [&] { session.run(inputs, {}, run_options); });
    other.join();
    const double cost = cpu_seconds() - asked;
    expect_mentions(message, {"cancelled"});
    EXPECT_LT(cost, kSoon);

    inputs["x"] = wave(GetParam().small);
    if (inputs.contains("c")) inputs["c"].as<bool>()[0] = false;
    EXPECT_EQ(session.run(inputs).size(), 1u);
  }
}

const LongRun kLongRuns[] = {
    {"OneStep",
     R"(g (float[N,4096] x) => (float[N,4096] y) <float[4096,4096] w = {1, ...}> {
       y = MatMul(x, w) })",
     {4000, 4096},
     {1, 4096}},
    {"ManySteps",
     R"(g (float[N,64] x) => (float[N,64] y) {
       a = Exp(x) b = Erf(a) c = Sin(b) d = Tan(c) e = Exp(d) f = Erf(e) h = Sin(f) i = Tan(h)
       y = Softmax(i) })",
     {200000, 64},
     {1, 64}},
    {"EndlessLoop",
     R"(g (float[N] x, bool c) => (float[N] y) {
       y = Loop("", c, x) <body = b (int64 i, bool go, float[N] v) => (bool go_on, float[N] w) {
         go_on = Identity(go) w = Neg(v) }> })",
     {4},
     {4}},
};
INSTANTIATE_TEST_SUITE_P(Cancel, CancelTest, ::testing::ValuesIn(kLongRuns),
                         [](const auto& test) { return std::string(test.param.name); });

// From within, at every stage that create reports: deterministic, and each stage is passed.
TEST(Cancel, EndsACreateAtEveryStage) {
  const std::vector<std::byte> model = two_layers();
  std::vector<std::string> stages;
  Options options;
  options.progress = [&](std::string_view stage, double) { stages.emplace_back(stage); };
  { const Session session(model, options); }
  ASSERT_GT(stages.size(), 4u);
  for (size_t stop = 0; stop + 1 < stages.size(); ++stop) {
    Options own;
    size_t seen = 0;
    own.progress = [&](std::string_view, double) {
      if (seen++ == stop) own.cancel.cancel();
    };
    message_of(ErrorCode::kModelLoadCanceled, [&] { Session(model, own); });
    EXPECT_EQ(seen, stop + 1) << "went on after '" << stages[stop] << "'";
  }
}

// Folding a product of constants takes long by itself.
TEST(Cancel, EndsACreateInTheMiddleOfFolding) {
  const std::vector<std::byte> model = model_bytes(R"(g (float[1] x) => (float[2048,2048] y)
      <float[2048,2048] a = {1, ...}, float[2048,2048] b = {1, ...}> {
    c = MatMul(a, b) d = MatMul(c, c) e = MatMul(d, d) f = MatMul(e, e) h = MatMul(f, f)
    i = MatMul(h, h) j = MatMul(i, i) y = Add(j, x) })");
  Options options;
  double asked = 0;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    asked = cpu_seconds();
    options.cancel.cancel();
  });
  message_of(ErrorCode::kModelLoadCanceled, [&] { Session(model, options); });
  other.join();
  EXPECT_LT(cpu_seconds() - asked, kSoon);
}

}  // namespace
}  // namespace sardonyx
