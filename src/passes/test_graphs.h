// For tests of passes and rules: graphs from text, values from running node by node, comparison of
// a graph before and after a pipeline over random inputs.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ir/text_parse.h"
#include "ir/text_print.h"
#include "ir/verify.h"
#include "ops/resolve.h"
#include "ops/run_node.h"
#include "passes/numbers.h"
#include "passes/pass.h"

namespace sardonyx {

// `body` is a graph in text syntax; the opset is put before it.
inline std::unique_ptr<Model> model_of(int opset, const std::string& body) {
  auto model = parse_model_text("<ir_version: 8, opset_import: [\"\": " + std::to_string(opset) +
                                "]>\n" + body);
  resolve_model(*model);
  return model;
}

// Values for the graph's inputs: floats in [-4, 4], integers in [0, 2]; a named dimension is 2 +
// its place in order of first use.
inline std::vector<Tensor> random_inputs(const Graph& graph, unsigned seed) {
  std::mt19937 random(seed);
  std::map<std::string, int64_t> symbols;
  std::vector<Tensor> inputs;
  for (ValueId id : graph.inputs()) {
    const ValueType& type = graph.value(id).type;
    Shape shape;
    for (const Dim& dim : *type.shape) {
      const std::string name = graph.dims().print(dim);
      if (!dim.is_known()) symbols.try_emplace(name, 2 + static_cast<int64_t>(symbols.size()));
      shape.push_back(dim.is_known() ? dim.value : symbols[name]);
    }
    std::vector<double> values(static_cast<size_t>(element_count(shape)));
    for (double& value : values) value = std::uniform_real_distribution<double>(-4, 4)(random);
    if (auto tensor = rules::write_floats(type.element, shape, values)) {
      inputs.push_back(*tensor);
      continue;
    }
    Tensor tensor = Tensor::allocate(type.element, shape);
    for (int64_t i = 0; i < tensor.size(); ++i) {
      const auto number = static_cast<int64_t>(random() % 3);
      if (type.element == DataType::kInt64) tensor.data<int64_t>()[i] = number;
      if (type.element == DataType::kInt32)
        tensor.data<int32_t>()[i] = static_cast<int32_t>(number);
      if (type.element == DataType::kBool) tensor.data<uint8_t>()[i] = number != 0;
    }
    inputs.push_back(tensor);
  }
  return inputs;
}

// Runs a graph without control flow.
inline std::vector<Tensor> run_graph(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> values(graph.value_count());
  for (size_t i = 0; i < graph.value_count(); ++i) {
    values[i] = graph.value(static_cast<ValueId>(i)).constant;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    values[static_cast<size_t>(graph.inputs()[i])] = inputs[i];
  }
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    std::vector<Tensor> arguments;
    for (ValueId input : node.inputs) {
      arguments.push_back(input == ValueId::kNone ? Tensor() : values[static_cast<size_t>(input)]);
    }
    const std::vector<Tensor> results = run_node(node, arguments);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != ValueId::kNone) {
        values[static_cast<size_t>(node.outputs[i])] = results[i];
      }
    }
  }
  std::vector<Tensor> outputs;
  for (ValueId id : graph.outputs()) outputs.push_back(values[static_cast<size_t>(id)]);
  return outputs;
}

// Equal type and shape; floats within `tolerance` of the largest magnitude, the rest bit for bit.
inline void expect_close(const Tensor& got, const Tensor& want, double tolerance) {
  ASSERT_EQ(got.type(), want.type());
  ASSERT_EQ(got.shape(), want.shape());
  const auto got_values = rules::read_floats(got);
  if (!got_values) {
    EXPECT_TRUE(bitwise_equal(got, want));
    return;
  }
  const std::vector<double> want_values = *rules::read_floats(want);
  double scale = 1e-30;
  for (double value : want_values) scale = std::max(scale, std::abs(value));
  for (size_t i = 0; i < want_values.size(); ++i) {
    ASSERT_NEAR((*got_values)[i], want_values[i], tolerance * scale) << "element " << i;
  }
}

struct Rewritten {
  std::unique_ptr<Model> model;
  PipelineReport report;

  int64_t count(std::string_view op) const {
    int64_t found = 0;
    for (NodeId id : model->graph->order()) found += model->graph->node(id).op == op;
    return found;
  }
  int64_t nodes() const { return static_cast<int64_t>(model->graph->order().size()); }
  const Node& only(std::string_view op) const {
    EXPECT_EQ(count(op), 1) << print(*model->graph);
    for (NodeId id : model->graph->order()) {
      if (model->graph->node(id).op == op) return model->graph->node(id);
    }
    throw std::runtime_error("no such node");
  }
};

// Runs the canonical stage, and the fused one when asked, and compares the values of before and
// after. Output names and types must stay.
inline Rewritten rewritten(int opset, const std::string& body, Stage stage = Stage::kCanonical,
                           PipelineOptions options = {}, double tolerance = 2e-6) {
  SCOPED_TRACE(body);
  const std::unique_ptr<Model> before = model_of(opset, body);
  Rewritten after{model_of(opset, body), {}};
  options.verify = true;
  options.stage = Stage::kCanonical;
  after.report = run_pipeline(*after.model, options);
  if (stage == Stage::kFused) {
    options.stage = Stage::kFused;
    options.edits_done = after.report.edits_done;
    const PipelineReport fused = run_pipeline(*after.model, options);
    after.report.passes.insert(after.report.passes.end(), fused.passes.begin(), fused.passes.end());
  }
  for (size_t i = 0; i < before->graph->outputs().size(); ++i) {
    const GraphValue& want = before->graph->value(before->graph->outputs()[i]);
    const GraphValue& got = after.model->graph->value(after.model->graph->outputs()[i]);
    EXPECT_EQ(got.name, want.name);
    EXPECT_EQ(got.type.element, want.type.element);
  }
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const std::vector<Tensor> inputs = random_inputs(*before->graph, seed);
    const std::vector<Tensor> want = run_graph(*before->graph, inputs);
    const std::vector<Tensor> got = run_graph(*after.model->graph, inputs);
    for (size_t i = 0; i < want.size(); ++i) expect_close(got[i], want[i], tolerance);
  }
  return after;
}

}  // namespace sardonyx
