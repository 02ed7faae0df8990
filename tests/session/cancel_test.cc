// Creates and Runs that another thread cancels end soon, with an error that says so; the session
// works on.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <map>
#include <thread>
#include <utility>

#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

// Work is measured in seconds of CPU, which do not depend on what else the machine does, and a
// cancel by the share of the whole work that is still done after it: the same on every machine.
constexpr double kLong = 0.1;
constexpr double kSoon = 0.25;

double cpu_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The less of two times, as the first one takes memory from the system.
template <typename Work>
double cost_of(Work work) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 2; ++i) {
    const double begin = cpu_seconds();
    work();
    least = std::min(least, cpu_seconds() - begin);
  }
  return least;
}

// `work` costs `whole` and is cancelled after a quarter of it: the share of the whole that it still
// takes. The least of some tries; those in which the thread that cancels comes after the middle say
// nothing. Infinite when `work`, which returns whether it was cancelled, never was.
template <typename Work>
double share_after_cancel(double whole, Work work) {
  double least = std::numeric_limits<double>::infinity();
  for (int tries = 0, in_time = 0; in_time < 5 && tries < 100 && least >= kSoon; ++tries) {
    const CancelToken token;
    const double begin = cpu_seconds();
    double asked = 0;
    std::atomic<bool> over{false};
    std::thread other([&, own = token]() mutable {
      while (!over && cpu_seconds() - begin < whole / 4) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      asked = cpu_seconds();
      own.cancel();
    });
    const bool cancelled = work(token);
    const double end = cpu_seconds();
    over = true;
    other.join();
    if (asked - begin > whole / 2) continue;
    ++in_time;
    if (cancelled) least = std::min(least, (end - asked) / whole);
  }
  return least;
}

struct LongRun {
  const char* name;
  const char* model;
  int64_t columns;  // of x: [N, columns]
};

void PrintTo(const LongRun& each, std::ostream* out) { *out << each.name; }

class CancelTest : public ::testing::TestWithParam<LongRun> {};

TEST_P(CancelTest, EndsALongRunSoon) {
  const std::vector<std::byte> model = model_bytes(GetParam().model);
  // As many rows as take long here.
  int64_t rows = 16;
  double whole = 0;
  std::map<std::string, Value> inputs;
  for (int threads : {1, 2}) {
    Options options;
    options.threads = threads;
    const Session session(model, options);
    while (whole < kLong) {
      rows *= 2;
      inputs = {{"x", wave({rows, GetParam().columns})}};
      whole = cost_of([&] { session.run(inputs); });
    }
    const double share = share_after_cancel(whole, [&](const CancelToken& token) {
      RunOptions run_options;
      run_options.cancel = token;
      try {
        session.run(inputs, {}, run_options);
        return false;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kFail);
        expect_mentions(error.what(), {"cancelled"});
        return true;
      }
    });
    EXPECT_LT(share, kSoon) << "of " << whole << " s for " << rows << " rows";
    EXPECT_EQ(session.run({{"x", wave({1, GetParam().columns})}}).size(), 1u);
  }
}

const LongRun kLongRuns[] = {
    {"OneStep",
     R"(g (float[N,2048] x) => (float[N,2048] y) <float[2048,2048] w = {1, ...}> {
       y = MatMul(x, w) })",
     2048},
    {"ManySteps",
     R"(g (float[N,64] x) => (float[N,64] y) {
       a = Exp(x) b = Erf(a) c = Sin(b) d = Tan(c) e = Exp(d) f = Erf(e) h = Sin(f) i = Tan(h)
       y = Softmax(i) })",
     64},
};
INSTANTIATE_TEST_SUITE_P(Cancel, CancelTest, ::testing::ValuesIn(kLongRuns),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Cancel, EndsAnEndlessLoop) {
  const std::vector<std::byte> model = model_bytes(R"(g (float[N] x, bool c) => (float[N] y) {
       y = Loop("", c, x) <body = b (int64 i, bool go, float[N] v) => (bool go_on, float[N] w) {
         go_on = Identity(go) w = Neg(v) }> })");
  for (int threads : {1, 2}) {
    Options options;
    options.threads = threads;
    const Session session(model, options);
    std::map<std::string, Value> inputs = {{"x", wave({4})},
                                           {"c", Value::tensor(ElementType::kBool, {})}};
    inputs["c"].as<bool>()[0] = true;
    RunOptions run_options;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      run_options.cancel.cancel();
    });
    expect_mentions(message_of(ErrorCode::kFail, [&] { session.run(inputs, {}, run_options); }),
                    {"cancelled"});
    other.join();
    inputs["c"].as<bool>()[0] = false;
    EXPECT_EQ(session.run(inputs).size(), 1u);
  }
}

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
  std::vector<std::byte> model;
  int rows = 32;
  double whole = 0;
  do {
    rows *= 2;
    model = model_bytes(fmt::format(R"(g (float[1] x) => (float[{0},512] y)
        <float[{0},2048] a = {{1, ...}}, float[2048,512] b = {{1, ...}}> {{
      c = MatMul(a, b) y = Add(c, x) }})",
                                    rows));
    whole = cost_of([&] { Session{std::span(std::as_const(model))}; });
  } while (whole < kLong);
  const double share = share_after_cancel(whole, [&](const CancelToken& token) {
    Options options;
    options.cancel = token;
    try {
      const Session session(model, options);
      return false;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kModelLoadCanceled) << error.what();
      return true;
    }
  });
  EXPECT_LT(share, kSoon) << "of " << whole << " s for " << rows << " rows";
}

}  // namespace
}  // namespace sardonyx
