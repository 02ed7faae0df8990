#include "exec/step_message.h"

#include <fmt/format.h>

namespace sardonyx {
namespace {

struct Row {
  std::string_view internal, model;
};

// Of those whose attribute "op" does not tell.
constexpr Row kRows[] = {
    {"BlockedAveragePool", "AveragePool"},
    {"BlockedConcat", "Concat"},
    {"BlockedConv", "Conv"},
    {"BlockedConvTranspose", "ConvTranspose"},
    {"BlockedDepthwiseConv", "Conv"},
    {"BlockedGlobalAveragePool", "GlobalAveragePool"},
    {"BlockedMaxPool", "MaxPool"},
    {"BlockedResize", "Resize"},
    {"BlockedUnary", "activation"},
    {"DepthToSpaceFromBlocked", "DepthToSpace"},
    {"FusedConv", "Conv"},
    {"FusedConvTranspose", "ConvTranspose"},
    {"FusedMatMul", "MatMul or Gemm"},
    {"Int8Gemm", "integer MatMul"},
    {"PackConvBias", "bias of Conv"},
    {"PackConvTransposeWeights", "weights of ConvTranspose"},
    {"PackConvWeights", "weights of Conv"},
    {"PackDepthwiseWeights", "weights of Conv"},
    {"PackGemmB", "weights of MatMul or Gemm"},
    {"PackInt8GemmB", "weights of integer MatMul"},
    {"PackRecurrent", "weights of LSTM, GRU or RNN"},
    {"PackedGRU", "GRU"},
    {"PackedGemm", "MatMul or Gemm"},
    {"PackedInt8Gemm", "integer MatMul"},
    {"PackedLSTM", "LSTM"},
    {"PackedRNN", "RNN"},
    {"ReorderFromBlocked", "layout of a tensor"},
    {"ReorderToBlocked", "layout of a tensor"},
};

// "Conv 'name' (ai.onnx)"; of a node without a name what it makes.
std::string describe_step(const BoundProgram& bound, int32_t step) {
  const Node& node = bound.program.steps[step];
  std::string name;
  if (!node.name.empty()) {
    name = fmt::format(" '{}'", node.name);
  } else {
    for (const int32_t output : bound.steps[step].outputs) {
      if (output < 0 || bound.program.buffers[output].name.empty()) continue;
      name = fmt::format(" that makes '{}'", bound.program.buffers[output].name);
      break;
    }
  }
  const bool is_standard = node.domain.empty() || node.domain == kInternalDomain;
  return fmt::format("{}{} ({})", model_operator(node), name,
                     is_standard ? "ai.onnx" : node.domain);
}

}  // namespace

std::string model_operator(const Node& step) {
  if (step.domain != kInternalDomain) return step.op;
  if (step.op == "BlockedBinary") return step.attributes.get_string("op", "");
  for (const Row& row : kRows) {
    if (step.op == row.internal) return std::string(row.model);
  }
  return "";
}

std::string step_message(const BoundProgram& bound, int32_t step, std::string_view message) {
  std::string text;
  for (const BoundBranch& branch : bound.branches) {
    if (step < branch.first || step >= branch.end) continue;
    text += describe_step(bound, branch.step);
    text += branch.when ? ": then_branch: " : ": else_branch: ";
  }
  text += describe_step(bound, step) + ": ";
  const std::string inferred = describe(bound.program.steps[step]) + ": ";
  if (message.starts_with(inferred)) message.remove_prefix(inferred.size());
  return text.append(message);
}

}  // namespace sardonyx
