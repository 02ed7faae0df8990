#include "exec/executor.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <thread>

#include "sardonyx/error.h"
#include "tests/exec/test_models.h"

namespace sardonyx {
namespace {

std::vector<float> run_one(Executor& executor, std::vector<Tensor> inputs, size_t output = 0) {
  std::vector<Tensor> outputs(executor.bound().program.outputs.size());
  executor.run(inputs, outputs, nullptr);
  const auto values = outputs[output].values<float>();
  return {values.begin(), values.end()};
}

TEST(Executor, RunsAChainAndLeavesTheInputAlone) {
  Executor executor(
      bind_text("m (float[N] x) => (float[N] y) { a = Neg(x) b = Neg(a) y = Relu(b) }"), nullptr,
      {});
  Tensor x = floats({3}, {-1, 0, 2});
  EXPECT_EQ(run_one(executor, {x}), (std::vector<float>{0, 0, 2}));
  EXPECT_EQ(x.data<float>()[0], -1);
  Tensor longer = floats({4}, {-1, 3, -2, 5});
  EXPECT_EQ(run_one(executor, {longer}), (std::vector<float>{0, 3, 0, 5}));
}

TEST(Executor, InPlaceNeverClobbersAValueThatIsStillNeeded) {
  // a is read again after b = Relu(a), and is also an output.
  Executor executor(
      bind_text("m (float[N] x) => (float[N] a, float[N] y) { a = Neg(x) b = Relu(a) c = Neg(b) "
                "y = Add(c, a) }"),
      nullptr, {});
  Tensor x = floats({3}, {-1, 0, 2});
  EXPECT_EQ(run_one(executor, {x}, 0), (std::vector<float>{1, 0, -2}));
  EXPECT_EQ(run_one(executor, {x}, 1), (std::vector<float>{0, 0, -2}));
}

TEST(Executor, InPlaceMayRepeatAnOperandWhereTheMaskSaysSo) {
  Executor sum(bind_text("m (float[2] x) => (float[2] y) { a = Neg(x) y = Add(a, a) }"), nullptr,
               {});
  EXPECT_EQ(run_one(sum, {floats({2}, {1, 2})}), (std::vector<float>{-2, -4}));
}

TEST(Executor, ViewsShareMemoryAndSurviveInPlaceWrites) {
  Executor executor(
      bind_text("m (float[2,3] x) => (float[6] y, float[3,2] z) <int64[1] s = {6}, int64[2] t = "
                "{3, 2}> { a = Neg(x) v = Reshape(a, s) y = Neg(v) z = Reshape(a, t) }"),
      nullptr, {});
  Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run_one(executor, {x}, 0), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(run_one(executor, {x}, 1), (std::vector<float>{-1, -2, -3, -4, -5, -6}));
}

TEST(Executor, OutputsThatNoStepWritesAreCopied) {
  Executor executor(bind_text("m (float[2] x) => (float[2] x, float[2] c, float[2] y, float[2] y) "
                              "<float[2] c = {7, 8}> { y = Neg(x) }"),
                    nullptr, {});
  Tensor x = floats({2}, {1, 2});
  EXPECT_EQ(run_one(executor, {x}, 0), (std::vector<float>{1, 2}));
  EXPECT_EQ(run_one(executor, {x}, 1), (std::vector<float>{7, 8}));
  EXPECT_EQ(run_one(executor, {x}, 2), (std::vector<float>{-1, -2}));
  EXPECT_EQ(run_one(executor, {x}, 3), (std::vector<float>{-1, -2}));
}

TEST(Executor, ShapeArithmeticIsResolvedOncePerSignature) {
  const auto bound = bind_text(
      "m (float[N,M] x) => (float[K] y) <int64[1] minus = {-1}> { s = Shape(x) y = Reshape(x, "
      "minus) "
      "}");
  Executor executor(bound, nullptr, {});
  std::vector<Tensor> inputs = {floats({2, 2}, {1, 2, 3, 4})};
  EXPECT_EQ(run_one(executor, inputs).size(), 4u);
  const auto signature = executor.signature_for(inputs);
  for (const ResolvedStep& step : signature->steps) {
    EXPECT_NE(bound->program.steps[static_cast<size_t>(step.step)].op, "Shape");
  }
  EXPECT_EQ(signature, executor.signature_for(inputs));
}

TEST(Executor, ShapesFromInputValuesArePartOfTheSignature) {
  Executor executor(
      bind_text("m (float[N] x, int64[R] s) => (float y) { n = Neg(x) y = Reshape(n, s) }"),
      nullptr, {});
  const Tensor x = floats({4}, {1, 2, 3, 4});
  const int64_t flat[] = {4}, square[] = {2, 2}, negative[] = {-1, 1};
  std::vector<Tensor> outputs(1);
  for (auto [shape, rank] :
       {std::pair<std::span<const int64_t>, size_t>{flat, 1}, {square, 2}, {negative, 2}}) {
    outputs[0] = Tensor();
    executor.run(std::vector<Tensor>{x, Tensor::of_int64(shape)}, outputs, nullptr);
    EXPECT_EQ(outputs[0].shape().size(), rank);
    EXPECT_EQ(outputs[0].data<float>()[3], -4);
  }
}

TEST(Executor, ShapesKnownOnlyWhileRunningAreAllocatedThen) {
  // Ten elements: too many for the signature, so the shape is read while running.
  Executor executor(
      bind_text("m (float[N] x, int64[10] s) => (float y) { t = Neg(s) u = Neg(t) n = "
                "Neg(x) r = Reshape(n, u) y = Neg(r) }"),
      nullptr, {});
  const int64_t ones[] = {1, 1, 1, 2, 1, 1, 1, 2, 1, 1};
  const Tensor x = floats({4}, {1, 2, 3, 4});
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::vector<Tensor> outputs(1);
    executor.run(std::vector<Tensor>{x, Tensor::of_int64(ones)}, outputs, nullptr);
    ASSERT_EQ(outputs[0].shape().size(), 10u);
    EXPECT_EQ(outputs[0].data<float>()[2], 3);
  }
}

TEST(Executor, WritesIntoTheCallersMemoryAndRefusesAnotherShape) {
  Executor executor(bind_text("m (float[N] x) => (float[N] y) { y = Neg(x) }"), nullptr, {});
  float memory[3] = {9, 9, 9};
  std::vector<Tensor> outputs = {Tensor::view(DataType::kFloat, {3}, memory)};
  executor.run(std::vector<Tensor>{floats({3}, {1, 2, 3})}, outputs, nullptr);
  EXPECT_EQ(memory[2], -3);
  EXPECT_THROW(executor.run(std::vector<Tensor>{floats({2}, {1, 2})}, outputs, nullptr), Error);
}

TEST(Executor, StopsWhenCancelledAndStaysUsable) {
  Executor executor(bind_text("m (float[N] x) => (float[N] y) { y = Neg(x) }"), nullptr, {});
  std::atomic<bool> cancel{true};
  std::vector<Tensor> outputs(1);
  EXPECT_THROW(executor.run(std::vector<Tensor>{floats({1}, {1})}, outputs, &cancel), Error);
  EXPECT_EQ(run_one(executor, {floats({1}, {1})}), (std::vector<float>{-1}));
}

TEST(Executor, RefusesARunAboveTheMemoryLimit) {
  ExecutorOptions options;
  options.memory_limit_bytes = 1024;
  Executor executor(
      bind_text("m (float[N] x) => (float[N] y) { a = Neg(x) b = Add(a, x) y = Add(a, "
                "b) }"),
      nullptr, options);
  EXPECT_EQ(run_one(executor, {floats({1}, {1})}).size(), 1u);
  Tensor big = Tensor::allocate(DataType::kFloat, {1000});
  std::fill_n(big.data<float>(), 1000, 1.0f);
  std::vector<Tensor> outputs(1);
  EXPECT_THROW(executor.run(std::vector<Tensor>{big}, outputs, nullptr), Error);
}

TEST(Executor, ConcurrentRunsGiveEqualBitsAtAnyThreadCount) {
  const auto bound = bind_text(
      "m (float[N] x) => (float[N] y) { a = Sigmoid(x) b = Exp(a) c = Mul(a, b) y = Tanh(c) }");
  Tensor x = Tensor::allocate(DataType::kFloat, {100000});
  for (int i = 0; i < 100000; ++i) x.data<float>()[i] = 0.001f * static_cast<float>(i - 50000);
  Executor alone(bound, nullptr, {});
  Executor team(bound, std::make_shared<ThreadPool>(2), {});
  const std::vector<float> expected = run_one(alone, {x});
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 6; ++t) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 5; ++repeat) wrong += run_one(team, {x}) != expected;
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Executor, TheRoundingOfTheApplicationIsPutAsideAndBack) {
  const auto bound = bind_text("m (float[N] x, float[1] d) => (float[N] y) { y = Div(x, d) }");
  Tensor x = Tensor::allocate(DataType::kFloat, {1 << 20});
  for (int i = 0; i < 1 << 20; ++i) x.data<float>()[i] = static_cast<float>(i);
  const Tensor d = floats({1}, {3});
  Executor alone(bound, nullptr, {});
  const std::vector<float> expected = run_one(alone, {x, d});
  for (int mode : {FE_UPWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    // Workers start in the first Run, by a thread in this mode.
    Executor team(bound, std::make_shared<ThreadPool>(2), {});
    const std::vector<float> of_one = run_one(alone, {x, d}), of_two = run_one(team, {x, d});
    EXPECT_EQ(std::fegetround(), mode);
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(of_one, expected);
    EXPECT_EQ(of_two, expected);
  }
}

TEST(RunState, AnArenaThatIsNotNeededAnyMoreIsFreed) {
  const auto bound = bind_text(
      "m (float[N] x) => (float[N] y) { a = Neg(x) b = Exp(a) c = Neg(a)"
      " y = Add(b, c) }");
  RunState state(*bound, nullptr);
  const auto run = [&](int64_t size) {
    const std::vector<Tensor> inputs = {Tensor::allocate(DataType::kFloat, {size})};
    std::fill_n(const_cast<float*>(inputs[0].data<float>()), size, 0.0f);
    std::vector<Tensor> outputs = {Tensor::allocate(DataType::kFloat, {size})};
    state.set_signature(resolve_signature(*bound, inputs));
    ThreadPool::Team team(nullptr);
    ASSERT_TRUE(state.run(inputs, outputs, team, nullptr).is_ok());
    EXPECT_EQ(outputs[0].data<float>()[size - 1], 1.0f);
    state.settle();
  };
  run(100);
  const int64_t small = state.arena_capacity();
  run(1 << 20);
  const int64_t huge = state.arena_capacity();
  EXPECT_GE(huge, 4 << 20);
  // Sizes that come back now and then keep their memory.
  for (int i = 0; i < 200; ++i) {
    run(i % 20 == 0 ? 1 << 20 : 100);
    EXPECT_EQ(state.arena_capacity(), huge);
  }
  for (int i = 0; i < 64; ++i) run(100);
  run(100);
  EXPECT_EQ(state.arena_capacity(), small);
}

}  // namespace
}  // namespace sardonyx
