#include <gtest/gtest.h>

#include <algorithm>
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

// Steps that a Run of these inputs resolves while running.
size_t dynamic_steps(Executor& executor, std::vector<Tensor> inputs) {
  const auto signature = executor.signature_for(inputs);
  return static_cast<size_t>(std::count_if(signature->steps.begin(), signature->steps.end(),
                                           [](const ResolvedStep& step) { return step.dynamic; }));
}

TEST(ControlFlow, AConditionFromASmallInputIsResolvedWithTheSignature) {
  Executor executor(
      bind_text("m (int64 rate, float[N] x) => (float y, float z) <int64 low = {8000}> {"
                " c = Equal(rate, low) a = Neg(x) r, z = If(c) <"
                "then_branch = t () => (float[N] u, float[N] w) { u = Neg(a) w = Add(u, x) }, "
                "else_branch = e () => (float[K] v, float[N] w) { v = Concat<axis=0>(a, x)"
                " w = Relu(a) }> y = Relu(r) }"),
      nullptr, {});
  const Tensor x = floats({2}, {-1, 2});
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto low = run(executor, {integer(8000), x});
    EXPECT_EQ(to_vector(low[0]), (std::vector<float>{0, 2}));
    EXPECT_EQ(to_vector(low[1]), (std::vector<float>{-2, 4}));
    const auto high = run(executor, {integer(16000), x});
    EXPECT_EQ(to_vector(high[0]), (std::vector<float>{1, 0, 0, 2}));
    EXPECT_EQ(to_vector(high[1]), (std::vector<float>{1, 0}));
  }
  EXPECT_EQ(dynamic_steps(executor, {integer(8000), x}), 0u);
  EXPECT_EQ(dynamic_steps(executor, {integer(1), x}), 0u);
}

TEST(ControlFlow, AConditionFromAShapeIsResolvedWithTheSignature) {
  Executor executor(
      bind_text("m (float[N] x) => (float y) <int64[1] two = {2}> { s = Shape(x) c = Equal(s, two)"
                " y = If(c) <then_branch = t () => (float[N] u) { u = Neg(x) }, "
                "else_branch = e () => (float[N] v) { v = Identity(x) }> }"),
      nullptr, {});
  EXPECT_EQ(to_vector(run(executor, {floats({2}, {1, 2})})[0]), (std::vector<float>{-1, -2}));
  EXPECT_EQ(to_vector(run(executor, {floats({1}, {1})})[0]), (std::vector<float>{1}));
  EXPECT_EQ(dynamic_steps(executor, {floats({1}, {1})}), 0u);
}

TEST(ControlFlow, ShapesThatABranchGivesAreKnownToWhatFollows) {
  const std::string text =
      "m (bool c, float[N] x) => (float y) { s = If(c) <"
      "then_branch = t () => (int64[2] u) { u = Constant<value = int64[2] {1, -1}>() }, "
      "else_branch = e () => (int64[1] v) { v = Shape(x) }> n = Neg(x) y = Reshape(n, s) }";
  Executor executor(bind_text(text), nullptr, {});
  const Tensor x = floats({2}, {1, 2});
  EXPECT_EQ(run(executor, {boolean(true), x})[0].shape(), (Shape{1, 2}));
  EXPECT_EQ(run(executor, {boolean(false), x})[0].shape(), (Shape{2}));
  EXPECT_EQ(dynamic_steps(executor, {boolean(true), x}), 0u);
}

// Outputs that are inputs, constants, each other, and what the caller reads as well.
constexpr const char* kPassing =
    "m (bool c, float[2] x) => (float[2] p, float[2] q, float[2] r, float[2] a) { a = Neg(x)"
    " p, q, r = If(c) <then_branch = t () => (float[2] u, float[2] u, float[2] w)"
    " { u = Neg(a) w = Identity(a) }, "
    "else_branch = e () => (float[2] v, float[2] k, float[2] v) <float[2] k = {5, 6}>"
    " { v = Identity(x) }> }";

TEST(ControlFlow, BranchOutputsMayShareMemory) {
  Executor executor(bind_text(kPassing), nullptr, {});
  const Tensor x = floats({2}, {1, 2});
  const std::vector<float> same = {1, 2}, negative = {-1, -2}, constant = {5, 6};
  for (int repeat = 0; repeat < 2; ++repeat) {
    auto results = run(executor, {boolean(true), x});
    EXPECT_EQ(to_vector(results[0]), same);
    EXPECT_EQ(to_vector(results[1]), same);
    EXPECT_EQ(to_vector(results[2]), negative);
    EXPECT_EQ(to_vector(results[3]), negative);
    results = run(executor, {boolean(false), x});
    EXPECT_EQ(to_vector(results[0]), same);
    EXPECT_EQ(to_vector(results[1]), constant);
    EXPECT_EQ(to_vector(results[2]), same);
    EXPECT_EQ(to_vector(results[3]), negative);
  }
  EXPECT_EQ(dynamic_steps(executor, {boolean(true), x}), 0u);
}

// The inner condition may be known, or only while running; its branches are empty or hold a Loop.
TEST(ControlFlow, BranchesNest) {
  Executor executor(
      bind_text("m (bool c, float[1] f, int64 n, float[1] x) => (float y) <float[1] zero = {0}> {"
                " d = Greater(f, zero)"
                " y = If(c) <then_branch = t () => (float[1] u) {"
                "   w = If(d) <then_branch = tt () => (float[1] i) { i = Neg(x) }, "
                "     else_branch = te () => (float[1] j) { j = Identity(x) }> u = Add(w, w) }, "
                "else_branch = e () => (float[1] v) {"
                "   v = If(c) <then_branch = et () => (float[1] k) { k = Identity(x) }, "
                "     else_branch = ee () => (float[1] l) { l = Loop(n, , x) <body = b (int64 i, "
                "bool go, float[1] a) => (bool go, float[1] o) { o = Add(a, f) }> }> }> }"),
      nullptr, {});
  const Tensor x = floats({1}, {3}), up = floats({1}, {1}), down = floats({1}, {-1});
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_EQ(to_vector(run(executor, {boolean(true), up, integer(2), x})[0])[0], -6);
    EXPECT_EQ(to_vector(run(executor, {boolean(true), down, integer(2), x})[0])[0], 6);
    EXPECT_EQ(to_vector(run(executor, {boolean(false), up, integer(2), x})[0])[0], 5);
    EXPECT_EQ(to_vector(run(executor, {boolean(false), down, integer(4), x})[0])[0], -1);
  }
}

// Branches are steps of the program where their conditions are known ahead, and programs of their
// own where data decides: Ifs in Ifs, one after the other, with a Loop, with captures from every
// level, one of them twice, and a branch without steps.
TEST(ControlFlow, NestedBranchesGiveTheSameAheadAndWhileRunning) {
  const auto model = [](const std::string& inputs, const std::string& conditions) {
    return "m (" + inputs + ", float[N] x) => (float y) <int64 two = {2}, int64 zero = {0}> {" +
           conditions + R"( a = Neg(x)
      y = If(c) <
        then_branch = t () => (float[N] u) {
          b = Add(a, a)
          p = If(d) <
            then_branch = tt () => (float[N] s) {
              s = Loop(two, "", b) <body = l (int64 i, bool go, float[N] v) => (bool on, float[N] w)
                { on = Identity(go) k = Add(v, x) w = Add(k, a) }> },
            else_branch = te () => (float[N] s) { s = Mul(b, b) }>
          q = If(e) <
            then_branch = tu () => (float[N] s) { s = Identity(p) },
            else_branch = tv () => (float[N] s) {
              s = If(d) < then_branch = tx () => (float[N] o) { o = Sub(p, x) },
                          else_branch = ty () => (float[N] o) { o = Sub(x, b) }> }>
          u = Add(q, p) },
        else_branch = f () => (float[N] u) {
          u = If(e) <
            then_branch = fu () => (float[N] s) { s = Identity(a) },
            else_branch = fv () => (float[N] s) { s = Add(x, x) }> }> })";
  };
  Executor ahead(bind_text(model("int64 c0, int64 d0, int64 e0",
                                 "c = Greater(c0, zero) d = Greater(d0, zero) "
                                 "e = Greater(e0, zero)")),
                 nullptr, {});
  // The condition is what a step made of many values.
  Executor running(bind_text(model("float[M] c0, float[M] d0, float[M] e0",
                                   "c1 = ReduceMax<keepdims=0>(c0) c = Cast<to=9>(c1) "
                                   "d1 = ReduceMax<keepdims=0>(d0) d = Cast<to=9>(d1) "
                                   "e1 = ReduceMax<keepdims=0>(e0) e = Cast<to=9>(e1)")),
                   nullptr, {});
  const Tensor x = floats({2}, {1, -3});
  for (int bits = 0; bits < 8; ++bits) {
    const bool c = (bits & 1) != 0, d = (bits & 2) != 0, e = (bits & 4) != 0;
    std::vector<float> expected;
    for (float v : {1.0f, -3.0f}) {
      const float b = -2 * v, p = d ? b : b * b;
      const float q = e ? p : d ? p - v : v - b;
      expected.push_back(c ? q + p : e ? -v : 2 * v);
    }
    SCOPED_TRACE(bits);
    EXPECT_EQ(to_vector(run(ahead, {integer(c), integer(d), integer(e), x})[0]), expected);
    EXPECT_EQ(dynamic_steps(ahead, {integer(0), integer(d), integer(e), x}), 0u);
    const auto many = [](bool value) {
      std::vector<float> values(100, 0.0f);
      values[42] = value ? 1.0f : 0.0f;
      return Tensor::from<float>(DataType::kFloat, {100}, values);
    };
    EXPECT_EQ(to_vector(run(running, {many(c), many(d), many(e), x})[0]), expected);
    EXPECT_GE(dynamic_steps(running, {many(c), many(d), many(e), x}), 1u);
  }
}

TEST(ControlFlow, ABranchMayDependOnData) {
  Executor executor(
      bind_text("m (bool c, float[N] x) => (int64 y, float[N] z) { y, z = If(c) <"
                "then_branch = t () => (int64 u, float[N] w) { u = NonZero(x) w = Neg(x) }, "
                "else_branch = e () => (int64 v, float[N] w) { v = Shape(x) w = Relu(x) }> }"),
      nullptr, {});
  const Tensor x = floats({3}, {0, 2, -1});
  for (int repeat = 0; repeat < 2; ++repeat) {
    auto results = run(executor, {boolean(true), x});
    EXPECT_EQ(results[0].shape(), (Shape{1, 2}));
    EXPECT_EQ(results[0].data<int64_t>()[1], 2);
    EXPECT_EQ(to_vector(results[1]), (std::vector<float>{0, -2, 1}));
    results = run(executor, {boolean(false), x});
    EXPECT_EQ(results[0].shape(), (Shape{1}));
    EXPECT_EQ(to_vector(results[1]), (std::vector<float>{0, 2, 0}));
  }
}

// A condition that changes all the time must not cost a signature each time.
TEST(ControlFlow, ManyValuesOfAConditionDoNotFillTheSignatures) {
  Executor executor(
      bind_text("m (int64 i, float[1] x) => (float[1] y) <int64 three = {3}> { c = Less(i, three)"
                " y = If(c) <then_branch = t () => (float[1] u) { u = Neg(x) }, "
                "else_branch = e () => (float[1] v) { v = Identity(x) }> }"),
      nullptr, {});
  const Tensor x = floats({1}, {1});
  for (int64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(to_vector(run(executor, {integer(i % 50), x})[0])[0], i % 50 < 3 ? -1 : 1);
  }
  EXPECT_EQ(executor.signature_for(std::vector<Tensor>{integer(1), x}),
            executor.signature_for(std::vector<Tensor>{integer(9), x}));
}

// What a step gives does not always depend on where its inputs come from.
TEST(ControlFlow, WhatFollowsADataDependentStepIsStaticWhenItsShapeIs) {
  Executor executor(
      bind_text("m (float[N] x, float[N] w) => (float y, float z) <int64[1] k = {2}> {"
                " i = NonZero(x) t = Transpose(i) r = ConstantOfShape(k)"
                " u = ReduceSum<keepdims = 0>(t) f = Cast<to = 1>(u) a = Add(w, f) b = Neg(a)"
                " y = Relu(b) g = GatherND(x, t) z = Neg(g) }"),
      nullptr, {});
  const std::vector<Tensor> inputs = {floats({3}, {0, 2, 5}), floats({3}, {-9, 1, 1})};
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto results = run(executor, inputs);
    EXPECT_EQ(to_vector(results[0]), (std::vector<float>{6, 0, 0}));
    EXPECT_EQ(to_vector(results[1]), (std::vector<float>{-2, -5}));
  }
  // NonZero, Transpose, ReduceSum, GatherND and the Neg after it.
  EXPECT_EQ(dynamic_steps(executor, inputs), 5u);
}

TEST(ControlFlow, StringsBetweenStepsAreObjects) {
  Executor executor(
      bind_text("m (string[N] x) => (string y) { a = Identity(x) b = Concat<axis=0>(a, x)"
                " c = Concat<axis=0>(b, a) y = Identity(c) }"),
      nullptr, {});
  const std::string texts[] = {"a text that does not fit a small string's own memory", "b"};
  const Tensor x = Tensor::from<std::string>(DataType::kString, {2}, texts);
  for (int repeat = 0; repeat < 3; ++repeat) {
    const Tensor y = run(executor, {x})[0];
    ASSERT_EQ(y.shape(), (Shape{6}));
    EXPECT_EQ(y.data<std::string>()[4], texts[0]);
    EXPECT_EQ(y.data<std::string>()[5], texts[1]);
  }
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
