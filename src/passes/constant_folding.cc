// Evaluates nodes whose inputs are all constants, through the same kernels as a Run.
//
// Left alone: control flow, non-deterministic operators, those marked kNoFold, values that are not
// tensors, and DequantizeLinear / QuantizeLinear (providers match them; see
// PipelineOptions::fold_dequantize).
// Size: one result may take at most twice the bytes of its inputs (four times when it is
// dequantised) or 1 MiB, whichever is more, and
// all results of a pipeline together may outgrow their inputs by 64 MiB. The size is known from
// inference before anything is computed, so ConstantOfShape of [2^40] costs nothing. The size of a
// data-dependent shape (NonZero, Unique) is not known ahead; those take small inputs only.
#include <algorithm>

#include "ops/run_node.h"
#include "passes/edit.h"
#include "passes/passes.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

constexpr const char* kName = "constant_folding";
constexpr int64_t kAlwaysAllowedBytes = int64_t{1} << 20;
constexpr int64_t kDataDependentInputBytes = int64_t{64} << 10;
constexpr int64_t kMaxInputGrowth = 2;
constexpr int64_t kMaxQuantisedGrowth = 4;  // bytes to floats
constexpr int64_t kMaxTotalGrowthBytes = int64_t{64} << 20;

bool inputs_are_constant(const Graph& graph, const Node& node) {
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
    return input == ValueId::kNone || graph.value(input).is_constant();
  });
}

bool is_quantisation(const Node& node) {
  return node.is("DequantizeLinear") || node.is("QuantizeLinear");
}

// Bytes of all wanted outputs; nullopt when a shape is not known or a value is not a tensor.
std::optional<int64_t> output_bytes(const Graph& graph, const Node& node) {
  int64_t total = 0;
  for (ValueId out : node.outputs) {
    if (out == ValueId::kNone) continue;
    const ValueType& type = graph.value(out).type;
    const std::optional<Shape> shape = to_shape(type.shape);
    if (!type.is_tensor() || !shape) return std::nullopt;
    const std::optional<int64_t> count = checked_element_count(*shape);
    const std::optional<int64_t> bytes = count ? storage_bytes(type.element, *count) : std::nullopt;
    if (!bytes || __builtin_add_overflow(total, *bytes, &total)) return std::nullopt;
  }
  return total;
}

int64_t input_bytes(const Graph& graph, const Node& node) {
  int64_t total = 0;
  for (ValueId input : node.inputs) {
    if (input == ValueId::kNone) continue;
    const Tensor& tensor = graph.value(input).constant;
    total += tensor.is_defined() ? tensor.size_bytes() : 0;
  }
  return total;
}

// nullptr when the node is to be evaluated.
const char* reason_against(const Graph& graph, const Node& node, const OpDef& op,
                           const PassContext& context) {
  if (op.has(kNonDeterministic)) return "not deterministic";
  if (op.has(kControlFlow) || !node.captures.empty()) return "control flow";
  if (op.has(kNoFold)) return "not to be folded";
  if (is_quantisation(node) && !context.options().fold_dequantize) return "quantisation";
  const int64_t given = input_bytes(graph, node);
  if (op.has(kDataDependentShape)) return given <= kDataDependentInputBytes ? nullptr : "size";
  const std::optional<int64_t> bytes = output_bytes(graph, node);
  if (!bytes) return "size is not known";
  const int64_t growth = is_quantisation(node) ? kMaxQuantisedGrowth : kMaxInputGrowth;
  if (*bytes > std::max(growth * given, kAlwaysAllowedBytes)) return "size";
  if (context.folded_growth_bytes + *bytes - given > kMaxTotalGrowthBytes) return "total size";
  return nullptr;
}

std::vector<Tensor> evaluate(const Graph& graph, const Node& node,
                             const std::atomic<bool>* cancel) {
  std::vector<Tensor> inputs;
  for (ValueId input : node.inputs) {
    inputs.push_back(input == ValueId::kNone ? Tensor() : graph.value(input).constant);
  }
  RunNodeOptions options;
  options.cancel = cancel;
  return run_node(node, inputs, options);
}

}  // namespace

void fold_constants(Graph& graph, PassContext& context) {
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    const Node& node = graph.node(id);
    if (!node.alive || !inputs_are_constant(graph, node)) continue;
    const OpDef* op = find_op(node.domain, node.op);
    if (op == nullptr || node.is("Constant")) continue;
    if (const char* reason = reason_against(graph, node, *op, context)) {
      context.reject(kName, reason, graph, id);
      continue;
    }
    if (!context.edits_left()) return;
    std::vector<Tensor> results;
    try {
      results = evaluate(graph, node, context.options().cancel);
    } catch (const Error& error) {
      context.check_cancelled();
      // Whatever is wrong is told when the node is prepared or run; it may never be.
      context.reject(kName, error.code() == ErrorCode::kNotImplemented ? "no kernel" : "failed",
                     graph, id);
      continue;
    }
    if (!context.take_edit(kName, node)) return;
    const ValueIds inputs = node.inputs, outputs = node.outputs;
    int64_t growth = -input_bytes(graph, node);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] == ValueId::kNone) continue;
      growth += results[i].size_bytes();
      graph.make_constant(outputs[i], results[i]);
    }
    context.folded_growth_bytes += std::max<int64_t>(growth, 0);
    // A weight and its packed form are not both held until all of them are packed.
    for (ValueId input : inputs) {
      if (input != ValueId::kNone) drop_unused_constant(graph, input);
    }
  }
}

}  // namespace sardonyx
