// Runs every src/ops/**/*.cases file: each case on every level of the CPU, with its inputs constant
// and not, in place where the operator allows it, and compares what inference said with what came.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ops/resolve.h"
#include "ops/run_node.h"
#include "ops/testing/case_file.h"
#include "ops/testing/compare.h"

namespace sardonyx {
namespace {

std::vector<std::string> case_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("src/ops")) {
    if (entry.path().extension() == ".cases") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

const OpCase::Given* find_input(const OpCase& c, const std::string& name) {
  for (const OpCase::Given& input : c.inputs) {
    if (input.name == name) return &input;
  }
  return nullptr;
}

Node make_node(const OpCase& c) {
  Node node;
  node.domain = c.node.domain;
  node.op = c.node.op;
  node.name = c.name;
  node.attributes = c.node.attributes;
  for (size_t i = 0; i < c.node.inputs.size(); ++i) {
    node.inputs.push_back(c.node.inputs[i].empty() ? ValueId::kNone : static_cast<ValueId>(i));
  }
  for (size_t i = 0; i < c.node.outputs.size(); ++i) {
    node.outputs.push_back(c.node.outputs[i].empty() ? ValueId::kNone
                                                     : static_cast<ValueId>(100 + i));
  }
  bind_node(node, c.opsets);
  return node;
}

size_t output_of(const OpCase& c, const std::string& name) {
  const auto at = std::find(c.node.outputs.begin(), c.node.outputs.end(), name);
  if (at == c.node.outputs.end()) ADD_FAILURE() << "the node has no output " << name;
  return static_cast<size_t>(at - c.node.outputs.begin());
}

std::string print_ints(const InferOutput& output, const DimTable& dims) {
  if (!output.ints) return "none";
  std::string text;
  for (const Dim& dim : *output.ints) text += (text.empty() ? "" : ", ") + dims.print(dim);
  return text;
}

// What the case says about inference from types.
void check_types(const OpCase& c) {
  Model model;
  model.opset_imports = c.opsets;
  model.graph = std::make_unique<Graph>(c.dims);
  Node node = make_node(c);
  for (size_t i = 0; i < c.node.inputs.size(); ++i) {
    if (c.node.inputs[i].empty()) continue;
    const OpCase::Given* input = find_input(c, c.node.inputs[i]);
    ASSERT_NE(input, nullptr) << "no input " << c.node.inputs[i];
    node.inputs[i] = input->value.is_defined()
                         ? model.graph->add_constant(input->name, input->value)
                         : model.graph->add_input(input->name, input->type);
  }
  for (size_t i = 0; i < c.node.outputs.size(); ++i) {
    if (!c.node.outputs[i].empty()) node.outputs[i] = model.graph->add_value(c.node.outputs[i]);
  }
  const NodeId id = model.graph->add_node(node);
  resolve_model(model);
  const auto value = [&](const std::string& name) -> const GraphValue& {
    return model.graph->value(model.graph->node(id).outputs[output_of(c, name)]);
  };
  for (const auto& [name, type] : c.inferred) {
    EXPECT_EQ(print_type(value(name).type, *c.dims), type) << "inferred type of " << name;
  }
  for (const auto& [name, ints] : c.ints) {
    EXPECT_EQ(print_ints({{}, value(name).ints}, *c.dims), ints) << "tracked elements of " << name;
  }
}

// Inference may know less than the truth, never something else.
void check_inferred(const InferOutput& inferred, const Tensor& actual, bool complete) {
  EXPECT_EQ(inferred.type.element, actual.type());
  const SymShape& shape = inferred.type.shape;
  if (complete) {
    ASSERT_TRUE(to_shape(shape)) << "the shape must be known";
  }
  if (shape) {
    ASSERT_EQ(shape->size(), actual.shape().size()) << "inferred rank";
    for (size_t i = 0; i < shape->size(); ++i) {
      if ((*shape)[i].is_known()) {
        EXPECT_EQ((*shape)[i].value, actual.shape()[i]) << "inferred size of axis " << i;
      }
    }
  }
  if (!inferred.ints) return;
  ASSERT_EQ(static_cast<int64_t>(inferred.ints->size()), actual.size()) << "tracked elements";
  for (size_t i = 0; i < inferred.ints->size(); ++i) {
    if (!(*inferred.ints)[i].is_known()) continue;
    int64_t element = 0;
    load_int64(actual.type(), actual.raw(), static_cast<int64_t>(i), 1, &element);
    EXPECT_EQ((*inferred.ints)[i].value, element) << "tracked element " << i;
  }
}

void run_once(const OpCase& c, const Node& node, const std::vector<Tensor>& inputs,
              const RunNodeOptions& options) {
  SCOPED_TRACE(fmt::format("isa {}, {} inputs, in place {}", to_string(options.isa),
                           options.constant_inputs ? "constant" : "unknown", options.in_place));
  const std::vector<Tensor> outputs = run_node(node, inputs, options);
  for (const auto& [name, expected] : c.expected) {
    const size_t i = output_of(c, name);
    const auto found = difference(outputs[i], expected, c.relative, c.absolute);
    EXPECT_FALSE(found) << name << " " << *found;
  }
  const OpDef& op = op_of(node);
  DimTable dims;
  const bool complete = !op.has(kDataDependentShape);
  for (const uint32_t known : {0u, op.value_inputs, ~0u}) {
    SCOPED_TRACE(fmt::format("inference with inputs {:#x} known", known));
    const std::vector<InferOutput> inferred = infer_on_tensors(node, inputs, known, dims);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (node.outputs[i] == ValueId::kNone) continue;
      check_inferred(inferred[i], outputs[i], complete && known != 0);
    }
  }
}

void run_case(const OpCase& c) {
  const Node node = make_node(c);
  std::vector<Tensor> inputs(c.node.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (c.node.inputs[i].empty()) continue;
    const OpCase::Given* input = find_input(c, c.node.inputs[i]);
    ASSERT_NE(input, nullptr) << "no input " << c.node.inputs[i];
    inputs[i] = input->value;
  }
  const OpDef& op = op_of(node);
  for (const Isa isa : supported_isas()) {
    for (const bool constant : {true, false}) {
      run_once(c, node, inputs, {.isa = isa, .constant_inputs = constant});
      for (int i = 0; i < static_cast<int>(inputs.size()) && i < 32; ++i) {
        const auto at = static_cast<size_t>(i);
        if ((op.in_place >> i & 1u) == 0 || !inputs[at].is_defined() || c.expected.empty())
          continue;
        const Tensor& first = c.expected[0].second;
        if (output_of(c, c.expected[0].first) != 0) continue;
        const bool strings = inputs[at].type() == DataType::kString;
        if (strings != (first.type() == DataType::kString)) continue;
        if (inputs[at].size_bytes() != first.size_bytes()) continue;
        run_once(c, node, inputs, {.isa = isa, .constant_inputs = constant, .in_place = i});
      }
    }
  }
}

void check_case(const OpCase& c) {
  const bool runs = std::all_of(c.inputs.begin(), c.inputs.end(),
                                [](const auto& input) { return input.value.is_defined(); });
  check_types(c);
  if (runs && (!c.expected.empty() || !c.error_code.empty())) run_case(c);
}

class OperatorCases : public testing::TestWithParam<std::string> {};

TEST_P(OperatorCases, Hold) {
  std::ifstream file(GetParam());
  std::stringstream text;
  text << file.rdbuf();
  std::vector<OpCase> cases;
  try {
    cases = parse_cases(text.str());
  } catch (const Error& error) {
    FAIL() << GetParam() << ": " << error.what();
  }
  for (const OpCase& c : cases) {
    SCOPED_TRACE(fmt::format("{}: case {}", GetParam(), c.name));
    try {
      check_case(c);
      EXPECT_EQ(c.error_code, "") << "no error came";
    } catch (const Error& error) {
      EXPECT_EQ(to_string(error.code()), c.error_code) << error.what();
      EXPECT_NE(std::string(error.what()).find(c.error_text), std::string::npos) << error.what();
    }
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).replace_extension().string();
  name.erase(0, std::string("src/ops/").size());
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, OperatorCases, testing::ValuesIn(case_files()), test_name);

}  // namespace
}  // namespace sardonyx
