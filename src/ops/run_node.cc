#include "ops/run_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ops/check_node.h"
#include "ops/resolve.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

struct Outputs {
  std::vector<Tensor> tensors;
  std::vector<TensorView> views;

  void set(size_t i, Tensor tensor) {
    views[i] = {tensor.type(), tensor.shape(), tensor.raw()};
    tensors[i] = std::move(tensor);
  }
};

Status allocate_output(void* owner, size_t i, const Shape& shape) {
  Outputs& outputs = *static_cast<Outputs*>(owner);
  try {
    outputs.set(i, Tensor::allocate(outputs.views[i].type, shape));
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
  return Status::ok();
}

template <typename T>
std::vector<const T*> pointers_to(const std::vector<T>& values) {
  std::vector<const T*> pointers;
  for (const T& value : values) pointers.push_back(&value);
  return pointers;
}

// Absent ones have none.
bool has_no_elements(const Tensor& tensor) { return !tensor.is_defined() || tensor.size() == 0; }

}  // namespace

std::vector<InferOutput> infer_on_tensors(const Node& node, std::span<const Tensor> inputs,
                                          uint32_t known, DimTable& dims) {
  const OpDef& op = op_of(node);
  std::vector<ValueType> types(inputs.size());
  std::vector<const ValueType*> type_pointers(inputs.size(), nullptr);
  std::vector<InferInput> infer_inputs(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_defined()) continue;
    types[i] = ValueType::tensor(inputs[i].type(), to_dims(inputs[i].shape()));
    type_pointers[i] = &types[i];
    infer_inputs[i].type = &types[i];
    if (i < 32 && (known >> i & 1u) != 0) infer_inputs[i].constant = &inputs[i];
  }
  check_node(node, schema_of(op, node.version), type_pointers, nullptr);
  std::vector<InferOutput> outputs(node.outputs.size());
  InferContext context(node, dims, infer_inputs, outputs);
  if (op.infer != nullptr) op.infer(context);
  return outputs;
}

std::vector<Tensor> run_node(const Node& node, std::span<const Tensor> inputs,
                             const RunNodeOptions& options) {
  const OpDef& op = op_of(node);
  if (op.has(kControlFlow) || op.prepare == nullptr) {
    throw Error(ErrorCode::kNotImplemented,
                fmt::format("{} has no kernel that runs on its own", describe(node)));
  }
  DimTable dims;
  const uint32_t known = options.constant_inputs ? ~0u : op.value_inputs;
  const std::vector<InferOutput> inferred = infer_on_tensors(node, inputs, known, dims);

  std::vector<Tensor> held(inputs.begin(), inputs.end());
  if (options.in_place >= 0) {
    Tensor& over = held[static_cast<size_t>(options.in_place)];
    over = over.clone();
  }
  std::vector<TensorView> input_views(held.size());
  std::vector<ValueType> input_types(held.size());
  std::vector<const ValueType*> input_type_pointers(held.size(), nullptr);
  std::vector<const Tensor*> constants(held.size(), nullptr);
  for (size_t i = 0; i < held.size(); ++i) {
    if (!held[i].is_defined()) continue;
    input_views[i] = {held[i].type(), held[i].shape(), held[i].raw()};
    input_types[i] = ValueType::tensor(held[i].type(), to_dims(held[i].shape()));
    input_type_pointers[i] = &input_types[i];
    const bool overwritten = static_cast<int>(i) == options.in_place;
    if (options.constant_inputs && !overwritten) constants[i] = &inputs[i];
  }

  Outputs outputs;
  outputs.tensors.resize(node.outputs.size());
  outputs.views.resize(node.outputs.size());
  std::vector<const ValueType*> output_types(node.outputs.size(), nullptr);
  for (size_t i = 0; i < inferred.size(); ++i) {
    if (node.outputs[i] == ValueId::kNone) continue;
    const ValueType& type = inferred[i].type;
    if (!type.is_tensor()) {
      throw Error(ErrorCode::kNotImplemented,
                  fmt::format("{}: output {} is not a tensor", describe(node), i));
    }
    output_types[i] = &type;
    outputs.views[i].type = type.element;
    const std::optional<Shape> shape = to_shape(type.shape);
    if (!shape) {
      if (op.has(kDataDependentShape)) continue;
      throw Error(ErrorCode::kFail,
                  fmt::format("{}: the shape of output {} could not be inferred from known inputs",
                              describe(node), i));
    }
    Tensor memory =
        i == 0 && options.in_place >= 0
            ? Tensor::view(type.element, *shape, held[static_cast<size_t>(options.in_place)].raw(),
                           held[static_cast<size_t>(options.in_place)].owner())
            : Tensor::allocate(type.element, *shape);
    outputs.set(i, std::move(memory));
  }

  std::vector<TensorView*> output_pointers;
  for (TensorView& view : outputs.views) output_pointers.push_back(&view);
  if (!op.has(kDataDependentShape) &&
      std::all_of(outputs.tensors.begin(), outputs.tensors.end(), has_no_elements)) {
    return std::move(outputs.tensors);
  }
  const PrepareContext prepare{node, input_type_pointers, constants, output_types, options.isa};
  const std::unique_ptr<Kernel> kernel = op.prepare(prepare);
  const auto input_pointers = pointers_to(input_views);
  const auto const_output_pointers = pointers_to(outputs.views);
  StepPlan plan;
  kernel->resolve(ResolveContext(node, input_pointers, const_output_pointers), plan)
      .throw_if_failed();

  const Tensor scratch = Tensor::allocate(DataType::kUint8, Shape{plan.scratch_bytes});
  const Tensor chunk_scratch =
      Tensor::allocate(DataType::kUint8, Shape{plan.scratch_bytes_per_chunk});
  RunContext run;
  run.inputs = input_pointers;
  run.outputs = output_pointers;
  run.state = plan.state.get();
  run.scratch = const_cast<std::byte*>(scratch.data<std::byte>());
  run.chunk_scratch = const_cast<std::byte*>(chunk_scratch.data<std::byte>());
  run.allocate = allocate_output;
  run.allocator = &outputs;
  for (run.phase = 0; run.phase < plan.phases; ++run.phase) {
    run.chunks = plan.chunks[static_cast<size_t>(run.phase)];
    for (run.chunk = 0; run.chunk < run.chunks; ++run.chunk) {
      if (options.cancel != nullptr && options.cancel->load())
        throw Error(ErrorCode::kFail, describe(node) + ": cancelled");
      const Status status = kernel->run(run);
      if (!status.is_ok()) {
        throw Error(status.code(), fmt::format("{}: {}", describe(node), status.message()));
      }
    }
  }
  return std::move(outputs.tensors);
}

}  // namespace sardonyx
