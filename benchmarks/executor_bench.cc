// What a Run and a step cost beyond their kernels' work. Budget: 0.3 us per Run, 0.02 us per step.
// The kernels here work on one element, so their own few nanoseconds are counted as overhead, too.
#include <benchmark/benchmark.h>

#include <string>

#include "exec/executor.h"
#include "tests/exec/test_models.h"

namespace sardonyx {
namespace {

// range(0): steps in the program.
void run_overhead(benchmark::State& state) {
  const int64_t steps = state.range(0);
  std::string text = "m (float[1] x) => (float[1] y) { a0 = Neg(x) ";
  for (int64_t i = 1; i < steps; ++i) {
    text += "a" + std::to_string(i) + " = Neg(a" + std::to_string(i - 1) + ") ";
  }
  text += "y = Neg(a" + std::to_string(steps - 1) + ") }";
  Executor executor(bind_text(text), nullptr, {});
  const std::vector<Tensor> inputs = {floats({1}, {1})};
  float result = 0;
  std::vector<Tensor> outputs = {Tensor::view(DataType::kFloat, {1}, &result)};
  for (auto _ : state) executor.run(inputs, outputs, nullptr);
  state.counters["per_step"] = benchmark::Counter(
      static_cast<double>(steps + 1),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(run_overhead)->Arg(1)->Arg(100)->Arg(1000);

}  // namespace
}  // namespace sardonyx
