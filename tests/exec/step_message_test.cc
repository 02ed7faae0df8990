#include "exec/step_message.h"

#include <gtest/gtest.h>

#include "exec/executor.h"
#include "sardonyx/error.h"
#include "tests/exec/test_models.h"

namespace sardonyx {
namespace {

TEST(StepMessage, EveryInternalOperatorStandsForOneOfTheModel) {
  for (const OpDef* op : all_ops()) {
    Node step;
    step.domain = op->domain;
    step.op = op->name;
    step.attributes.set("op", std::string("Add"));
    const std::string name = model_operator(step);
    EXPECT_NE(name, "") << op->name;
    EXPECT_EQ(name == op->name, op->domain != kInternalDomain) << op->name;
  }
}

std::string failure_of(const char* model, std::vector<Tensor> inputs) {
  Executor executor(bind_text(model), nullptr, {});
  std::vector<Tensor> outputs(executor.bound().program.outputs.size());
  try {
    executor.run(inputs, outputs, nullptr);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "no error";
}

TEST(StepMessage, InputsThatDoNotFitAreArgumentErrors) {
  const std::string message =
      failure_of("m (float[N] x, float[M] y) => (float[K] z) { a = Neg(x) z = Add(a, y) }",
                 {floats({2}, {1, 2}), floats({3}, {1, 2, 3})});
  EXPECT_EQ(message.rfind("Add that makes 'z' (ai.onnx): ", 0), 0u) << message;
  EXPECT_NE(message.find("the inputs that were given do not fit the model"), std::string::npos)
      << message;
}

}  // namespace
}  // namespace sardonyx
