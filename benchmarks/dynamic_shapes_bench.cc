// Sessions whose input shapes change from Run to Run: what resolving a new signature costs a
// decoder that grows by one position each step, and whether memory settles under random sizes.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "ir/text_parse.h"
#include "onnx/writer.h"
#include "sardonyx/session.h"

namespace sardonyx {
namespace {

constexpr int kLayers = 4;

Session session_of(const std::string& text) {
  Options options;
  options.threads = 1;
  return Session(write_model(*parse_model_text(text)), options);
}

Value quarters(std::vector<int64_t> shape) {
  Value value = Value::tensor(ElementType::kFloat, shape);
  std::fill_n(value.as<float>().data(), value.size(), 0.25f);
  return value;
}

// Of the calling thread, so that other processes do not count.
double thread_microseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

double resident_mib() {
  long total = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &total, &resident) != 2) resident = 0;
  if (file != nullptr) std::fclose(file);
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1048576.0;
}

// Width 64, 4 heads of 16, with the shape arithmetic that exporters write: past and new keys are
// joined, scores masked by position, LayerNormalization and a feed-forward part follow.
std::string decoder() {
  std::string inputs = "float[1,1,64] x", outputs = "float y", body;
  std::string before = "x";
  for (int layer = 0; layer < kLayers; ++layer) {
    const std::string l = std::to_string(layer);
    inputs += ", float[1,4,P" + l + ",16] k" + l + ", float[1,4,Q" + l + ",16] v" + l;
    outputs += ", float nk" + l + ", float nv" + l;
    std::string part = R"(
      wq@ = ConstantOfShape <value = float[1] {0.02}> (square)
      wf@ = ConstantOfShape <value = float[1] {0.01}> (wide)
      wg@ = ConstantOfShape <value = float[1] {0.01}> (tall)
      sx@ = Shape(BEFORE) n@ = Gather <axis = 0> (sx@, one) nu@ = Unsqueeze(n@, zero1)
      split@ = Concat <axis = 0> (one1, nu@, heads1, width1)
      join@ = Concat <axis = 0> (one1, nu@, all1)
      q@ = MatMul(BEFORE, wq@) qs@ = Reshape(q@, split@) qt@ = Transpose <perm = [0, 2, 1, 3]> (qs@)
      a@ = MatMul(BEFORE, wq@) as@ = Reshape(a@, split@) at@ = Transpose <perm = [0, 2, 1, 3]> (as@)
      b@ = MatMul(BEFORE, wq@) bs@ = Reshape(b@, split@) bt@ = Transpose <perm = [0, 2, 1, 3]> (bs@)
      nk@ = Concat <axis = 2> (k@, at@) nv@ = Concat <axis = 2> (v@, bt@)
      kt@ = Transpose <perm = [0, 1, 3, 2]> (nk@) s@ = MatMul(qt@, kt@) sd@ = Div(s@, four)
      sk@ = Shape(nk@) len@ = Gather <axis = 0> (sk@, two) pos@ = Range(zero, len@, one)
      past@ = Shape(k@) here@ = Gather <axis = 0> (past@, two)
      may@ = LessOrEqual(pos@, here@) sm@ = Where(may@, sd@, low)
      p@ = Softmax <axis = -1> (sm@) o@ = MatMul(p@, nv@)
      ot@ = Transpose <perm = [0, 2, 1, 3]> (o@) oj@ = Reshape(ot@, join@) y@ = MatMul(oj@, wq@)
      r@ = Add(BEFORE, y@) h@ = LayerNormalization <axis = -1> (r@, gamma)
      f@ = MatMul(h@, wf@) fa@ = Relu(f@) g@ = MatMul(fa@, wg@) out@ = Add(h@, g@)
)";
    for (size_t at; (at = part.find("BEFORE")) != std::string::npos;) part.replace(at, 6, before);
    for (size_t at; (at = part.find('@')) != std::string::npos;) part.replace(at, 1, l);
    body += part;
    before = "out" + l;
  }
  return "<ir_version: 9, opset_import: [\"\": 18]> decoder (" + inputs + ") => (" + outputs +
         ") <int64[2] square = {64, 64}, int64[2] wide = {64, 256}, int64[2] tall = {256, 64}, "
         "int64 zero = {0}, int64 one = {1}, int64 two = {2}, int64[1] zero1 = {0}, "
         "int64[1] one1 = {1}, int64[1] heads1 = {4}, int64[1] width1 = {16}, int64[1] all1 = "
         "{-1}, "
         "float four = {4}, float low = {-1e30}, int64[1] sixty_four = {64}> {"
         " gamma = ConstantOfShape <value = float[1] {1}> (sixty_four)" +
         body + " y = Identity(" + before + ") }";
}

// 500 steps, each with one more position than the last; the keys and values of a step go into the
// next. The signatures kept are fewer than the steps, so each is resolved anew. What the machine
// does meanwhile hits other steps each time, so a step counts as the best of five sequences, each
// in a session of its own: what is left is what the step itself costs.
void decode(benchmark::State& state) {
  constexpr int kSteps = 500;
  constexpr int kSequences = 5;
  std::vector<double> microseconds;
  for (auto _ : state) {
    microseconds.assign(kSteps, 1e9);
    for (int sequence = 0; sequence < kSequences; ++sequence) {
      const Session session = session_of(decoder());
      std::vector<Value> inputs = {quarters({1, 1, 64})};
      for (int i = 0; i < 2 * kLayers; ++i) inputs.push_back(quarters({1, 4, 1, 16}));
      for (int step = 0; step < kSteps; ++step) {
        const double begin = thread_microseconds();
        std::vector<Value> outputs = session.run(inputs);
        microseconds[step] = std::min(microseconds[step], thread_microseconds() - begin);
        for (int i = 0; i < 2 * kLayers; ++i) inputs[1 + i] = std::move(outputs[1 + i]);
      }
    }
  }
  // A step against the median of the twenty around it.
  double worst = 0;
  int slow = 0;
  for (int i = 10; i + 10 < kSteps; ++i) {
    std::vector<double> near(microseconds.begin() + i - 10, microseconds.begin() + i + 11);
    std::nth_element(near.begin(), near.begin() + 10, near.end());
    const double ratio = microseconds[i] / near[10];
    worst = std::max(worst, ratio);
    slow += ratio > 1.2;
  }
  std::sort(microseconds.begin(), microseconds.end());
  state.counters["step_us_median"] = microseconds[kSteps / 2];
  state.counters["step_us_max"] = microseconds.back();
  state.counters["worst_to_neighbours"] = worst;
  state.counters["steps_above_1.2"] = slow;
}
BENCHMARK(decode)->Unit(benchmark::kMillisecond);

// What a step of the decoder costs when its signature is known.
void decode_known(benchmark::State& state) {
  const Session session = session_of(decoder());
  std::vector<Value> inputs = {quarters({1, 1, 64})};
  for (int i = 0; i < 2 * kLayers; ++i) inputs.push_back(quarters({1, 4, 250, 16}));
  for (auto _ : state) benchmark::DoNotOptimize(session.run(inputs));
}
BENCHMARK(decode_known)->Unit(benchmark::kMicrosecond);

std::string convolutions() {
  return R"(<ir_version: 9, opset_import: ["": 18]>
    net (float[N,3,H,W] x) => (float y, float mean)
    <int64[4] s1 = {16, 3, 3, 3}, int64[4] s2 = {32, 16, 3, 3}, int64[4] s3 = {32, 1, 3, 3},
     int64[4] s4 = {8, 32, 1, 1}> {
      w1 = ConstantOfShape <value = float[1] {0.1}> (s1)
      w2 = ConstantOfShape <value = float[1] {0.1}> (s2)
      w3 = ConstantOfShape <value = float[1] {0.1}> (s3)
      w4 = ConstantOfShape <value = float[1] {0.1}> (s4)
      a = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, w1) ar = Relu(a)
      b = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (ar)
      c = Conv <pads = [1, 1, 1, 1]> (b, w2) cr = Relu(c)
      d = Conv <group = 32, pads = [1, 1, 1, 1]> (cr, w3) e = Add(cr, d)
      y = Conv(e, w4) mean = GlobalAveragePool(y) })";
}

// 2000 random sizes, then one huge image, then small ones again.
void random_sizes(benchmark::State& state) {
  for (auto _ : state) {
    const Session session = session_of(convolutions());
    std::mt19937 random(7);
    std::uniform_int_distribution<int64_t> side(1, 256), batch(1, 3);
    const auto run = [&](int count, int64_t most) {
      for (int i = 0; i < count; ++i) {
        session.run(std::vector<Value>{
            quarters({batch(random), 3, side(random) % most + 1, side(random) % most + 1})});
      }
    };
    run(200, 256);
    state.counters["mib_after_200"] = resident_mib();
    run(800, 256);
    state.counters["mib_after_1000"] = resident_mib();
    run(1000, 256);
    state.counters["mib_after_2000"] = resident_mib();
    run(100, 32);
    state.counters["mib_small"] = resident_mib();
    session.run(std::vector<Value>{quarters({1, 3, 3000, 3000})});
    state.counters["mib_huge"] = resident_mib();
    run(100, 32);
    state.counters["mib_small_again"] = resident_mib();
  }
}
BENCHMARK(random_sizes)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sardonyx
