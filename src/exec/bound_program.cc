#include "exec/bound_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "exec/splice.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

std::vector<int32_t> buffers_of(const ValueIds& ids) {
  std::vector<int32_t> buffers;
  for (ValueId id : ids) buffers.push_back(static_cast<int32_t>(id));
  return buffers;
}

void find_last_uses(BoundProgram& bound) {
  const auto step_count = static_cast<int32_t>(bound.steps.size());
  bound.last_use.assign(bound.program.buffers.size(), -1);
  const auto use = [&](int32_t buffer, int32_t step) {
    if (buffer >= 0) bound.last_use[buffer] = step;
  };
  for (int32_t i = 0; i < step_count; ++i) {
    for (int32_t buffer : bound.steps[i].inputs) use(buffer, i);
    for (int32_t branch : bound.steps[i].branches) {
      if (branch < 0) continue;
      for (int32_t buffer : bound.branches[branch].outputs) use(buffer, i);
    }
  }
  for (int32_t buffer : bound.program.outputs) use(buffer, step_count);
}

// Marks the buffers whose contents decide shapes, or else the conditions of spliced branches.
std::vector<bool> find_needed_values(const BoundProgram& bound, bool by_conditions) {
  std::vector<bool> needed(bound.program.buffers.size(), false);
  const auto is_needed = [&](int32_t buffer) { return buffer >= 0 && needed[buffer]; };
  const auto need = [&](int32_t buffer) {
    if (buffer >= 0) needed[buffer] = true;
  };
  for (size_t i = bound.steps.size(); i-- > 0;) {
    const BoundStep& step = bound.steps[i];
    if (step.branches[0] >= 0 && step.branches[1] >= 0) {
      // What the branches capture is seen by their own steps.
      if (by_conditions) need(step.inputs[0]);
      for (size_t o = 0; o < step.outputs.size(); ++o) {
        if (!is_needed(step.outputs[o])) continue;
        for (int32_t branch : step.branches) need(bound.branches[branch].outputs[o]);
      }
      continue;
    }
    const bool feeds_values = std::any_of(step.outputs.begin(), step.outputs.end(), is_needed);
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      const bool read_by_shape =
          !by_conditions && k < 32 && ((step.op->value_inputs >> k) & 1) != 0;
      if (read_by_shape || (feeds_values && !step.op->has(kShapeOnly))) need(step.inputs[k]);
    }
  }
  return needed;
}

}  // namespace

BoundStep bind_step(const Program& program, const Node& node, Isa isa) {
  BoundStep step;
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
  // What its subgraphs capture it reads, too.
  for (ValueId captured : node.captures) step.inputs.push_back(static_cast<int32_t>(captured));
  return step;
}

void find_uses(BoundProgram& bound) {
  find_last_uses(bound);
  bound.value_needed = find_needed_values(bound, false);
  bound.condition_needed = find_needed_values(bound, true);
}

std::shared_ptr<const BoundProgram> bind(Program program, Isa isa) {
  auto bound = std::make_shared<BoundProgram>();
  bind_spliced(std::move(program), isa, *bound);
  find_uses(*bound);
  return bound;
}

}  // namespace sardonyx
