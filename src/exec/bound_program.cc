#include "exec/bound_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

std::vector<int32_t> buffers_of(const ValueIds& ids) {
  std::vector<int32_t> buffers;
  for (ValueId id : ids) buffers.push_back(static_cast<int32_t>(id));
  return buffers;
}

void bind_step(const Program& program, const Node& node, Isa isa, BoundStep& step) {
  step.op = find_op(node.domain, node.op);
  if (step.op == nullptr || step.op->prepare == nullptr) {
    throw Error(ErrorCode::kNotImplemented, fmt::format("no kernel for {}", describe(node)));
  }
  step.inputs = buffers_of(node.inputs);
  step.outputs = buffers_of(node.outputs);
  std::vector<const ValueType*> input_types, output_types;
  std::vector<const Tensor*> constants;
  for (int32_t buffer : step.inputs) {
    const ProgramBuffer* found = buffer < 0 ? nullptr : &program.buffers[buffer];
    input_types.push_back(found ? &found->type : nullptr);
    constants.push_back(found && found->kind == ProgramBuffer::Kind::kConstant ? &found->constant
                                                                               : nullptr);
  }
  for (int32_t buffer : step.outputs) {
    output_types.push_back(buffer < 0 ? nullptr : &program.buffers[buffer].type);
  }
  step.gives_outputs = step.op->has(kControlFlow);
  for (const auto* types : {&input_types, &output_types}) {
    for (const ValueType* type : *types) {
      if (type != nullptr && type->holds_values()) step.gives_outputs = true;
    }
  }
  step.kernel = step.op->prepare({node, input_types, constants, output_types, isa});
  if (!step.kernel) {
    throw Error(ErrorCode::kNotImplemented, fmt::format("no kernel for {}", describe(node)));
  }
}

}  // namespace

std::shared_ptr<const BoundProgram> bind(Program program, Isa isa) {
  auto bound = std::make_shared<BoundProgram>();
  bound->program = std::move(program);
  for (SubProgram& sub : bound->program.subprograms) {
    bound->subprograms.push_back(
        {sub.step, sub.attribute, sub.captures, bind(std::move(sub.program), isa)});
  }
  const Program& source = bound->program;
  const auto step_count = static_cast<int32_t>(source.steps.size());
  bound->steps.resize(source.steps.size());
  bound->value_needed.assign(source.buffers.size(), false);
  bound->last_use.assign(source.buffers.size(), -1);
  for (int32_t i = 0; i < step_count; ++i) {
    bind_step(source, source.steps[i], isa, bound->steps[i]);
    for (ValueId captured : source.steps[i].captures) {
      bound->steps[i].inputs.push_back(static_cast<int32_t>(captured));
    }
    for (int32_t buffer : bound->steps[i].inputs) {
      if (buffer >= 0) bound->last_use[buffer] = i;
    }
  }
  for (int32_t buffer : source.outputs) bound->last_use[buffer] = step_count;
  for (int32_t i = step_count - 1; i >= 0; --i) {
    const BoundStep& step = bound->steps[i];
    const bool feeds_values = std::any_of(step.outputs.begin(), step.outputs.end(), [&](int32_t b) {
      return b >= 0 && bound->value_needed[b];
    });
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      if (step.inputs[k] < 0) continue;
      const bool read_by_shape = k < 32 && ((step.op->value_inputs >> k) & 1) != 0;
      if (read_by_shape || (feeds_values && !step.op->has(kShapeOnly))) {
        bound->value_needed[step.inputs[k]] = true;
      }
    }
  }
  return bound;
}

}  // namespace sardonyx
