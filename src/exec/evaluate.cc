#include "exec/evaluate.h"

#include <fmt/format.h>

#include <algorithm>

#include "sardonyx/error.h"

namespace sardonyx {

bool is_of_type(const Tensor& tensor, const ValueType& type) {
  switch (type.kind) {
    case ValueType::Kind::kUnknown:
      return tensor.is_defined() && !holds_values(tensor.type());
    case ValueType::Kind::kTensor:
      return tensor.is_defined() && !holds_values(tensor.type()) &&
             (tensor.type() == type.element || type.element == DataType::kUndefined);
    case ValueType::Kind::kSequence:
    case ValueType::Kind::kOptional: {
      const bool is_sequence = type.kind == ValueType::Kind::kSequence;
      if (tensor.type() != (is_sequence ? kSequenceType : kOptionalType)) return false;
      if (!type.inner) return true;
      const std::span<const Tensor> items = tensor.values<Tensor>();
      return std::all_of(items.begin(), items.end(),
                         [&](const Tensor& item) { return is_of_type(item, *type.inner); });
    }
    default:
      return false;
  }
}

std::vector<Tensor> run_serially(const Node& node, const Kernel& kernel,
                                 std::span<const TensorView* const> inputs,
                                 std::span<TensorView* const> outputs) {
  std::vector<Tensor> results(outputs.size());
  std::vector<TensorView> views(outputs.size());
  std::vector<TensorView*> pointers(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    pointers[i] = &views[i];
    if (!outputs[i]->is_present()) continue;
    results[i] = Tensor::allocate(outputs[i]->type, outputs[i]->shape);
    views[i] = {results[i].type(), results[i].shape(), results[i].raw()};
  }
  StepPlan plan;
  kernel.resolve(ResolveContext(node, inputs, {pointers.data(), pointers.size()}), plan)
      .throw_if_failed();
  const Tensor scratch = Tensor::allocate(DataType::kUint8, Shape{plan.scratch_bytes});
  const Tensor chunk_scratch =
      Tensor::allocate(DataType::kUint8, Shape{plan.scratch_bytes_per_chunk});
  RunContext run;
  run.inputs = inputs;
  run.outputs = pointers;
  run.state = plan.state.get();
  run.scratch = const_cast<std::byte*>(scratch.data<std::byte>());
  run.chunk_scratch = const_cast<std::byte*>(chunk_scratch.data<std::byte>());
  for (run.phase = 0; run.phase < plan.phases; ++run.phase) {
    run.chunks = plan.chunks[run.phase];
    for (run.chunk = 0; run.chunk < run.chunks; ++run.chunk) kernel.run(run).throw_if_failed();
  }
  return results;
}

bool infer_step(const Node& node, const OpDef& op, std::span<const TensorView* const> inputs,
                const std::vector<bool>& known, std::span<TensorView* const> outputs) {
  std::vector<ValueType> types(inputs.size());
  std::vector<Tensor> contents(inputs.size());
  std::vector<InferInput> infer_inputs(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]->is_present()) continue;
    types[i] = ValueType::tensor(inputs[i]->type, to_dims(inputs[i]->shape));
    infer_inputs[i].type = &types[i];
    if (known[i]) {
      contents[i] = Tensor::view(inputs[i]->type, inputs[i]->shape, inputs[i]->data);
      infer_inputs[i].constant = &contents[i];
    }
  }
  std::vector<InferOutput> infer_outputs(outputs.size());
  DimTable dims;
  InferContext context(node, dims, infer_inputs, infer_outputs);
  op.infer(context);
  bool complete = true;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (node.output(i) == ValueId::kNone) continue;
    const std::optional<Shape> shape = to_shape(infer_outputs[i].type.shape);
    outputs[i]->type = infer_outputs[i].type.element;
    if (!shape || !infer_outputs[i].type.is_tensor()) {
      complete = false;
      continue;
    }
    const std::optional<int64_t> count = checked_element_count(*shape);
    if (!count || !storage_bytes(outputs[i]->type, *count)) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("output {} would have the shape {}, which has no valid size", i,
                              to_string(*shape)));
    }
    outputs[i]->shape = *shape;
  }
  return complete;
}

}  // namespace sardonyx
