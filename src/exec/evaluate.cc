#include "exec/evaluate.h"

#include <fmt/format.h>

#include <algorithm>

#include "sardonyx/error.h"
#include "tensor/memory.h"

namespace sardonyx {
namespace {

void reserve(InferScratch& scratch, size_t input_count, size_t output_count) {
  if (scratch.types.size() < input_count) {
    scratch.types.resize(input_count);
    scratch.contents.resize(input_count);
    scratch.inputs.resize(input_count);
  }
  if (scratch.outputs.size() < output_count) scratch.outputs.resize(output_count);
}

// Kernels make tables as long as an axis of their output, so this comes before them.
void check_fits_memory(size_t output, const Shape& shape, int64_t bytes) {
  if (bytes <= most_block_bytes()) return;
  throw Error(ErrorCode::kFail,
              fmt::format("output {} of shape {} would take {} bytes; this machine has {} bytes of "
                          "memory and swap space",
                          output, to_string(shape), bytes, most_block_bytes()));
}

// The graph was found good without the shapes and contents of this Run: what inference finds wrong
// with them is an argument's fault.
void infer_given(const Node& node, const OpDef& op, InferContext& context) {
  try {
    op.infer(context);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidGraph) throw;
    std::string message = error.what();
    // The operands of internal operators, packed weights and the like, say nothing to the user.
    if (node.domain == kInternalDomain)
      message.resize(std::min(message.rfind(" (inputs: "), message.size()));
    throw Error(ErrorCode::kInvalidArgument,
                message + "; the inputs that were given do not fit the model");
  }
}

}  // namespace

TensorView& absent_view() {
  static TensorView& view = *new TensorView;
  return view;
}

bool are_all_empty(std::span<TensorView* const> outputs) {
  bool any = false;
  for (const TensorView* output : outputs) {
    if (!output->is_present()) continue;
    if (output->size() != 0) return false;
    any = true;
  }
  return any;
}

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

void check_output_types(const Program& program, std::span<const int32_t> outputs,
                        std::span<TensorView* const> views) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] < 0) continue;
    const ProgramBuffer& buffer = program.buffers[static_cast<size_t>(outputs[i])];
    if (!buffer.type.is_tensor() || buffer.type.element == DataType::kUndefined) continue;
    if (views[i]->type == buffer.type.element) continue;
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("output {} '{}' is {}, the program says {}", i, buffer.name,
                            name_of(views[i]->type), name_of(buffer.type.element)));
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
  if (are_all_empty(pointers)) return results;
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
                const std::vector<bool>& known, std::span<TensorView* const> outputs,
                InferScratch& scratch) {
  reserve(scratch, inputs.size(), outputs.size());
  const std::span<InferInput> infer_inputs(scratch.inputs.data(), inputs.size());
  const std::span<InferOutput> infer_outputs(scratch.outputs.data(), outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    infer_inputs[i] = InferInput();
    if (!inputs[i]->is_present()) continue;
    ValueType& type = scratch.types[i];
    type.kind = ValueType::Kind::kTensor;
    type.element = inputs[i]->type;
    type.shape = to_dims(inputs[i]->shape);
    infer_inputs[i].type = &type;
    if (known[i]) {
      scratch.contents[i] = Tensor::view(inputs[i]->type, inputs[i]->shape, inputs[i]->data);
      infer_inputs[i].constant = &scratch.contents[i];
    }
  }
  for (InferOutput& output : infer_outputs) output = InferOutput();
  DimTable dims;
  InferContext context(node, dims, infer_inputs, infer_outputs);
  infer_given(node, op, context);
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
    const std::optional<int64_t> bytes =
        count ? storage_bytes(outputs[i]->type, *count) : std::nullopt;
    if (!bytes) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("output {} would have the shape {}, which has no valid size", i,
                              to_string(*shape)));
    }
    check_fits_memory(i, *shape, *bytes);
    outputs[i]->shape = *shape;
  }
  return complete;
}

std::vector<ValueType> infer_types(const Node& node, const OpDef& op,
                                   std::span<const ValueType> types,
                                   std::span<const Tensor* const> constants) {
  std::vector<InferInput> inputs(types.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (types[i].kind == ValueType::Kind::kUnknown) continue;
    inputs[i].type = &types[i];
    inputs[i].constant = constants[i];
  }
  std::vector<InferOutput> outputs(node.outputs.size());
  DimTable dims;
  InferContext context(node, dims, inputs, outputs);
  infer_given(node, op, context);
  std::vector<ValueType> results;
  for (InferOutput& output : outputs) results.push_back(without_symbols(std::move(output.type)));
  return results;
}

ValueType without_symbols(ValueType type) {
  if (type.shape) {
    for (Dim& dim : *type.shape) {
      if (!dim.is_known()) dim = Dim();
    }
  }
  return type;
}

}  // namespace sardonyx
