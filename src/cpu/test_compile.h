// Helpers of the tests of lowering: models from text with random weights, run as they are and as
// the CPU provider compiles them. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cpu/compile.h"
#include "exec/executor.h"
#include "ir/text_parse.h"
#include "ops/resolve.h"
#include "passes/edit.h"

namespace sardonyx::cpu::testing {

inline Tensor random_tensor(const Shape& shape, uint32_t seed, float low = -1.0f,
                            float high = 1.0f) {
  Tensor tensor = Tensor::allocate(DataType::kFloat, shape);
  std::minstd_rand engine(seed * 7919 + 17);
  std::uniform_real_distribution<float> uniform(low, high);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.data<float>()[i] = uniform(engine);
  return tensor;
}

// Parses a model; its inputs whose names start with "w" become random constants, those with a
// default that.
inline std::unique_ptr<Model> parse_with_weights(std::string_view text) {
  std::unique_ptr<Model> model = parse_model_text(text);
  Graph& graph = *model->graph;
  std::vector<ValueId> inputs;
  uint32_t seed = 1;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const ValueId id = graph.inputs()[i];
    if (graph.input_default(i).is_defined()) {
      graph.value(id).constant = graph.input_default(i);
      continue;
    }
    if (graph.value(id).name[0] != 'w') {
      inputs.push_back(id);
      continue;
    }
    const Shape shape = *to_shape(graph.value(id).type.shape);
    graph.value(id).constant = random_tensor(shape, seed++, -0.5f, 0.5f);
  }
  graph.set_inputs(inputs, std::vector<Tensor>(inputs.size()));
  resolve_model(*model);
  return model;
}

inline std::vector<Tensor> run_program(Program program, const std::vector<Tensor>& inputs,
                                       int threads = 1) {
  const size_t outputs = program.outputs.size();
  auto pool = threads > 1 ? std::make_shared<ThreadPool>(threads) : nullptr;
  Executor executor(bind(std::move(program), best_isa()), pool, {});
  std::vector<Tensor> results(outputs);
  executor.run(inputs, results, nullptr);
  return results;
}

inline std::map<std::string, int> count_steps(const Program& program) {
  std::map<std::string, int> counts;
  for (const Node& step : program.steps) ++counts[step.op];
  return counts;
}

inline void expect_close(const Tensor& actual, const Tensor& expected, double tolerance,
                         const std::string& what) {
  ASSERT_EQ(actual.shape(), expected.shape()) << what;
  int reported = 0;
  for (int64_t i = 0; i < expected.size() && reported < 3; ++i) {
    const double a = actual.data<float>()[i], e = expected.data<float>()[i];
    if (std::isnan(a) != std::isnan(e) ||
        !(std::isnan(e) || a == e ||
          std::fabs(a - e) <= tolerance * std::fmax(1.0, std::fabs(e)))) {
      ADD_FAILURE() << what << ": element " << i << " is " << a << ", expected " << e;
      ++reported;
    }
  }
}

// Compiles the model with and without lowering, runs both on random inputs of `shapes` and compares
// all outputs. Returns the steps of the lowered program.
inline std::map<std::string, int> compare_lowered(std::string_view text,
                                                  const std::vector<Shape>& shapes,
                                                  double tolerance = 2e-5, int block = 8) {
  std::vector<Tensor> inputs;
  for (const Shape& shape : shapes) {
    inputs.push_back(random_tensor(shape, static_cast<uint32_t>(inputs.size()) + 100));
  }
  CompileOptions plain, lowered;
  plain.pipeline.level = OptimizationLevel::kNone;
  plain.pipeline.disabled = {"layout", "conv_1d", "pack_gemm", "pack_int8_gemm", "pack_recurrent"};
  lowered.block = block;
  PipelineReport report;
  const auto expected = run_program(compile(*parse_with_weights(text), plain, report), inputs);
  Program program = compile(*parse_with_weights(text), lowered, report);
  const std::map<std::string, int> counts = count_steps(program);
  std::string what(text);
  for (const auto& [op, count] : counts) what += "\n  " + op + " " + std::to_string(count);
  const auto actual = run_program(program, inputs);
  for (size_t i = 0; i < expected.size(); ++i) {
    expect_close(actual[i], expected[i], tolerance, what);
  }
  // The split into chunks changes nothing.
  const auto threaded = run_program(std::move(program), inputs, 2);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(bitwise_equal(actual[i], threaded[i])) << what;
  }
  return counts;
}

}  // namespace sardonyx::cpu::testing
