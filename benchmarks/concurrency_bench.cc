// The same number of Runs, made by one thread after the other and by 16 at once on one session. The
// counter `ratio` is the time of the second over that of the first; it should stay below 1.2.
#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

constexpr int kThreads = 16;

double seconds_of(int threads, int runs, const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> others;
  for (int t = 0; t < threads; ++t) {
    others.emplace_back([&] {
      for (int i = 0; i < runs / threads; ++i) run();
    });
  }
  for (std::thread& each : others) each.join();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// rows: of the input; sessions: that share the Runs.
void compare(benchmark::State& state) {
  const Value x = wave({state.range(0), 256});
  std::vector<Session> sessions;
  for (int64_t i = 0; i < state.range(1); ++i) sessions.emplace_back(two_layers());
  const int runs =
      static_cast<int>(std::max<int64_t>(kThreads, 200000 / state.range(0)) / kThreads * kThreads);
  std::atomic<size_t> next{0};
  const auto run = [&] {
    benchmark::DoNotOptimize(sessions[next++ % sessions.size()].run(std::vector<Value>{x}));
  };
  double serial = 0, together = 0;
  seconds_of(kThreads, runs, run);
  for (auto _ : state) {
    serial += seconds_of(1, runs, run);
    together += seconds_of(kThreads, runs, run);
  }
  state.counters["ratio"] = together / serial;
  state.counters["us_per_run"] =
      1e6 * serial / static_cast<double>(runs) / static_cast<double>(state.iterations());
}
BENCHMARK(compare)
    ->ArgNames({"rows", "sessions"})
    ->ArgsProduct({{1, 16, 256, 2048}, {1, 4}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace sardonyx
