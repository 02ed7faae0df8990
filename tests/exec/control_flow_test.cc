#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "exec/executor.h"
#include "sardonyx/error.h"
#include "tests/exec/test_models.h"

namespace sardonyx {
namespace {

Tensor boolean(bool value) { return Tensor::from<bool>(DataType::kBool, {}, {&value, 1}); }
Tensor integer(int64_t value) { return Tensor::from<int64_t>(DataType::kInt64, {}, {&value, 1}); }

std::vector<Tensor> run(Executor& executor, std::vector<Tensor> inputs,
                        const std::atomic<bool>* cancel = nullptr) {
  std::vector<Tensor> outputs(executor.bound().program.outputs.size());
  executor.run(inputs, outputs, cancel);
  return outputs;
}

std::vector<float> to_vector(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

TEST(ControlFlow, IfTakesABranchWithItsOwnShapeAndCaptures) {
  Executor executor(
      bind_text("m (bool c, float[N] x) => (float y) { a = Neg(x) r = If(c) <"
                "then_branch = t () => (float[N] u) { u = Neg(a) }, "
                "else_branch = e () => (float[K] v) { v = Concat<axis=0>(a, x) }> y = Relu(r) }"),
      nullptr, {});
  const Tensor x = floats({2}, {-1, 2});
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_EQ(to_vector(run(executor, {boolean(true), x})[0]), (std::vector<float>{0, 2}));
    EXPECT_EQ(to_vector(run(executor, {boolean(false), x})[0]), (std::vector<float>{1, 0, 0, 2}));
  }
}

TEST(ControlFlow, BranchesMayReturnWhatTheyCaptureUnchanged) {
  Executor executor(bind_text("m (bool c, float[2] x) => (float[2] y) { a = Neg(x) y = If(c) <"
                              "then_branch = t () => (float[2] u) { u = Identity(a) }, "
                              "else_branch = e () => (float[2] v) { v = Identity(x) }> }"),
                    nullptr, {});
  const Tensor x = floats({2}, {1, 2});
  EXPECT_EQ(to_vector(run(executor, {boolean(true), x})[0]), (std::vector<float>{-1, -2}));
  EXPECT_EQ(to_vector(run(executor, {boolean(false), x})[0]), (std::vector<float>{1, 2}));
}

// Doubles `s` in every trip and stacks it; stops when the condition falls.
constexpr const char* kLoop =
    "m (int64 n, bool c, float[2] s) => (float[2] last, float[K,2] all) { last, all = Loop(n, c, "
    "s) <"
    "body = b (int64 i, bool go, float[2] v) => (bool again, float[2] w, float[2] seen) {"
    " again = Identity(go) w = Add(v, v) seen = Identity(w) }> }";

TEST(ControlFlow, LoopCarriesAndStacks) {
  Executor executor(bind_text(kLoop), nullptr, {});
  const Tensor s = floats({2}, {1, 3});
  std::vector<Tensor> results = run(executor, {integer(3), boolean(true), s});
  EXPECT_EQ(to_vector(results[0]), (std::vector<float>{8, 24}));
  EXPECT_EQ(results[1].shape(), (Shape{3, 2}));
  EXPECT_EQ(to_vector(results[1]), (std::vector<float>{2, 6, 4, 12, 8, 24}));
  for (const auto& [trips, go] : {std::pair{0, true}, std::pair{3, false}}) {
    results = run(executor, {integer(trips), boolean(go), s});
    EXPECT_EQ(to_vector(results[0]), (std::vector<float>{1, 3}));
    EXPECT_EQ(results[1].shape(), (Shape{0, 2}));
  }
}

TEST(ControlFlow, ACarriedValueMayGrow) {
  Executor executor(
      bind_text("m (int64 n, float[1] s) => (float[K] y) { y = Loop(n, , s) <"
                "body = b (int64 i, bool go, float[J] v) => (bool again, float[L] w) {"
                " again = Identity(go) w = Concat<axis=0>(v, s) }> }"),
      nullptr, {});
  EXPECT_EQ(run(executor, {integer(5), floats({1}, {7})})[0].size(), 6);
}

TEST(ControlFlow, AnEndlessLoopCanBeCancelled) {
  Executor executor(
      bind_text("m (float[1] s) => (float[1] y) { y = Loop(, , s) <"
                "body = b (int64 i, bool go, float[1] v) => (bool go, float[1] v) { }> }"),
      nullptr, {});
  std::atomic<bool> cancel{false};
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    cancel = true;
  });
  EXPECT_THROW(run(executor, {floats({1}, {1})}, &cancel), Error);
  stopper.join();
}

TEST(ControlFlow, AFailureInABodyNamesWhereItHappened) {
  Executor executor(bind_text("m (bool c, float[N] x, float[M] z) => (float y) { y = If(c) <"
                              "then_branch = t () => (float u) { u = Add(x, z) }, "
                              "else_branch = e () => (float v) { v = Neg(x) }> }"),
                    nullptr, {});
  try {
    run(executor, {boolean(true), floats({2}, {1, 2}), floats({3}, {1, 2, 3})});
    FAIL() << "no error";
  } catch (const Error& error) {
    const std::string message = error.what();
    for (const char* word : {"If", "then_branch", "Add"}) {
      EXPECT_NE(message.find(word), std::string::npos) << word << " in: " << message;
    }
  }
}

}  // namespace
}  // namespace sardonyx
