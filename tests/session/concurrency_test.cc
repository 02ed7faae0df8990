// Many Runs at once, on one session and on several.
#include <atomic>
#include <cstring>
#include <thread>

#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

bool same_bits(const Value& a, const Value& b) {
  return a.size_bytes() == b.size_bytes() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

template <typename Body>
void on_threads(int count, Body body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back([=] { body(t); });
  for (std::thread& thread : threads) thread.join();
}

// Batches of several sizes, so that signatures and arenas change hands as well.
std::vector<Value> batches() {
  std::vector<Value> inputs;
  for (int64_t n : {1, 7, 64, 3, 32}) inputs.push_back(wave({n, 256}, static_cast<float>(n) / 100));
  return inputs;
}

std::vector<Value> results_of(const Session& session, const std::vector<Value>& inputs) {
  std::vector<Value> results;
  for (const Value& input : inputs) results.push_back(session.run({{"x", input}})[0]);
  return results;
}

TEST(Concurrency, SixteenThreadsGetTheBitsOfASerialRun) {
  const std::vector<std::byte> model = two_layers();
  const std::vector<Value> inputs = batches();
  Options options;
  options.threads = 1;
  const std::vector<Value> expected = results_of(Session(model, options), inputs);
  for (int count : {0, 2, 3}) {
    options.threads = count;
    const Session session(model, options);
    std::atomic<int> wrong{0};
    on_threads(16, [&](int t) {
      for (int i = 0; i < 20; ++i) {
        const size_t k = static_cast<size_t>(t + i) % inputs.size();
        wrong += !same_bits(session.run({{"x", inputs[k]}})[0], expected[k]);
      }
    });
    EXPECT_EQ(wrong, 0) << options.threads << " threads";
  }
}

TEST(Concurrency, SeveralSessionsRunAtOnce) {
  const std::vector<std::byte> model = two_layers();
  const std::vector<Value> inputs = batches();
  const std::vector<Value> expected = results_of(Session(model), inputs);
  std::atomic<int> wrong{0};
  on_threads(6, [&](int t) {
    for (int i = 0; i < 3; ++i) {
      Options options;
      options.threads = t % 3;  // one set of threads of the process, none, their own
      const Session session(model, options);
      const std::vector<Value> results = results_of(session, inputs);
      for (size_t k = 0; k < inputs.size(); ++k) wrong += !same_bits(results[k], expected[k]);
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Concurrency, RunsThatFailDoNotDisturbOthers) {
  const Session session(two_layers());
  const Value good = wave({16, 256});
  const Value expected = session.run({{"x", good}})[0];
  std::atomic<int> wrong{0};
  on_threads(8, [&](int t) {
    for (int i = 0; i < 50; ++i) {
      if (t % 2 == 0) {
        wrong += !same_bits(session.run({{"x", good}})[0], expected);
        continue;
      }
      RunOptions options;
      options.cancel.cancel();
      try {
        session.run({{"x", good}}, {}, options);
        ++wrong;
      } catch (const Error&) {
      }
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Concurrency, TrimWhileRunsAreUnderWay) {
  const Session session(two_layers());
  const std::vector<Value> inputs = batches();
  const std::vector<Value> expected = results_of(session, inputs);
  std::atomic<int> wrong{0};
  std::atomic<bool> done{false};
  std::thread trimmer([&] {
    while (!done) session.trim();
  });
  on_threads(4, [&](int t) {
    for (int i = 0; i < 50; ++i) {
      const size_t k = static_cast<size_t>(t + i) % inputs.size();
      wrong += !same_bits(session.run({{"x", inputs[k]}})[0], expected[k]);
    }
  });
  done = true;
  trimmer.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace sardonyx
