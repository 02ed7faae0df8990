#include "exec/run_state.h"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "exec/evaluate.h"
#include "exec/executor.h"
#include "exec/given_outputs.h"
#include "exec/step_message.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

// Sizes that come back within so many Runs keep their memory; smaller arenas are kept anyway.
constexpr int kRunsToSettle = 32;
constexpr int64_t kSmallArenaBytes = 1 << 20;

int64_t round_up(int64_t bytes) {
  const auto align = static_cast<int64_t>(kTensorAlignment);
  return (bytes + align - 1) / align * align;
}

bool is_set(const std::atomic<bool>* cancel) {
  return cancel != nullptr && cancel->load(std::memory_order_relaxed);
}

Status cancelled() { return Status(ErrorCode::kFail, "the run was cancelled"); }

// What reads the buffer is bound to its type, whatever a subgraph makes of it.
Status check_type(const ProgramBuffer& buffer, const Tensor& tensor) {
  if (is_of_type(tensor, buffer.type)) return Status::ok();
  return Status(ErrorCode::kInvalidGraph,
                fmt::format("'{}' is {}{}, the graph says {}", buffer.name, name_of(tensor.type()),
                            to_string(tensor.shape()), type_string(buffer.type)));
}

}  // namespace

struct RunState::Job {
  const Kernel* kernel;
  RunContext context;
  std::byte* chunk_scratch = nullptr;
  int64_t chunk_scratch_bytes = 0;
  const std::atomic<bool>* cancel = nullptr;
  std::atomic<bool> failed{false};
  std::mutex mutex;
  Status failure;
};

RunState::RunState(const BoundProgram& bound, Executor* executor)
    : bound_(bound),
      executor_(executor),
      views_(bound.program.buffers.size()),
      dynamic_(bound.program.buffers.size()) {
  for (const BoundStep& step : bound_.steps) {
    StepViews& views = steps_.emplace_back();
    for (int32_t b : step.inputs) views.inputs.push_back(b < 0 ? &absent_view() : &views_[b]);
    for (int32_t b : step.outputs) views.outputs.push_back(b < 0 ? &absent_view() : &views_[b]);
  }
}

RunState::~RunState() = default;

void RunState::set_signature(std::shared_ptr<const Signature> signature) {
  if (!arena_.grow(signature->arena.size_bytes)) {
    signature_.reset();
    throw Error(ErrorCode::kFail, fmt::format("out of memory: the run needs an arena of {} bytes",
                                              signature->arena.size_bytes));
  }
  signature_ = std::move(signature);
  views_ = signature_->views;
  input_patches_.clear();
  output_patches_.clear();
  for (size_t b = 0; b < views_.size(); ++b) {
    const Place& place = signature_->places[b];
    switch (place.kind) {
      case Place::Kind::kInput:
        input_patches_.push_back({static_cast<int32_t>(b), place.index});
        break;
      case Place::Kind::kOutput:
        output_patches_.push_back({static_cast<int32_t>(b), place.index});
        break;
      case Place::Kind::kArena:
        views_[b].data = arena_.data() + place.offset;
        break;
      default:
        break;
    }
  }
}

void RunState::settle() {
  if (signature_ != nullptr) most_needed_ = std::max(most_needed_, signature_->arena.size_bytes);
  if (++runs_ < kRunsToSettle) return;
  const int64_t needed = std::exchange(most_needed_, 0);
  runs_ = 0;
  if (needed > arena_.size_bytes() / 2 || arena_.size_bytes() < kSmallArenaBytes) return;
  arena_ = GrowingMemory();
  signature_.reset();  // set again, and with it the arena, before the next Run
}

Status RunState::run(std::span<const Tensor> inputs, std::span<Tensor> outputs,
                     ThreadPool::Team& team, const std::atomic<bool>* cancel,
                     const StepObserver* observer) {
  // However the Run ends, what it allocated on the way must not wait for the next one.
  struct Forget {
    std::vector<Tensor>& tensors;
    ~Forget() {
      for (Tensor& tensor : tensors) {
        if (tensor.is_defined()) tensor = Tensor();
      }
    }
  } forget{dynamic_};
  cancel_ = cancel;
  for (const Patch& patch : input_patches_) {
    const Tensor& input = inputs[patch.index];
    views_[patch.buffer].data = const_cast<void*>(input.raw());
    if (holds_values(input.type())) views_[patch.buffer].shape = input.shape();
  }
  for (const Patch& patch : output_patches_) {
    views_[patch.buffer].data = outputs[patch.index].raw();
  }
  for (const ResolvedStep& step : signature_->steps) {
    if (is_set(cancel)) return cancelled();
    StepEvent event;
    if (observer != nullptr) event.begin = std::chrono::steady_clock::now();
    Status status = step.dynamic ? run_dynamic_step(step, team) : run_step(step, team);
    if (observer != nullptr) {
      event.end = std::chrono::steady_clock::now();
      event.step = step.step;
      event.inputs = steps_[step.step].inputs;
      event.outputs = steps_[step.step].outputs;
      (*observer)(event);
    }
    if (!status.is_ok()) {
      return Status(status.code(), step_message(bound_, step.step, status.message()));
    }
  }
  copy_outputs(outputs);
  return Status::ok();
}

void RunState::copy_outputs(std::span<Tensor> outputs) {
  for (const OutputCopy& copy : signature_->copies) {
    const TensorView& from = views_[copy.buffer];
    Tensor& to = outputs[copy.output];
    if (!to.is_defined() && dynamic_[copy.buffer].is_defined()) {
      to = dynamic_[copy.buffer];
      continue;
    }
    if (!to.is_defined()) to = Tensor::allocate(from.type, from.shape);
    check_given_output(bound_, static_cast<size_t>(copy.output), from, to);
    copy_contents(from.type, from.data, to.raw(), from.size());
  }
}

void RunState::run_chunk(void* job_pointer, int chunk) {
  Job& job = *static_cast<Job*>(job_pointer);
  if (job.failed.load(std::memory_order_relaxed) || is_set(job.cancel)) return;
  RunContext context = job.context;
  context.chunk = chunk;
  context.chunk_scratch = job.chunk_scratch + job.chunk_scratch_bytes * chunk;
  Status status = job.kernel->run(context);
  if (!status.is_ok()) {
    const std::lock_guard<std::mutex> lock(job.mutex);
    if (!job.failed.exchange(true)) job.failure = std::move(status);
  }
}

Status RunState::run_phases(const ResolvedStep& step, const StepPlan& plan, std::byte* scratch,
                            std::byte* chunk_scratch, ThreadPool::Team& team) {
  const BoundStep& bound = bound_.steps[step.step];
  const StepViews& views = steps_[step.step];
  RunContext context;
  context.inputs = views.inputs;
  context.outputs = views.outputs;
  context.state = plan.state.get();
  context.scratch = scratch;
  context.allocate = &RunState::allocate_output;
  context.allocator = this;
  for (int phase = 0; phase < plan.phases; ++phase) {
    context.phase = phase;
    context.chunks = plan.chunks[phase];
    if (context.chunks == 1) {
      context.chunk_scratch = chunk_scratch;
      SDX_RETURN_IF_FAILED(bound.kernel->run(context));
      continue;
    }
    Job job{bound.kernel.get(),
            context,
            chunk_scratch,
            plan.scratch_bytes_per_chunk,
            cancel_,
            {},
            {},
            {}};
    team.run(context.chunks, &RunState::run_chunk, &job);
    if (job.failed.load()) return std::move(job.failure);
    if (is_set(cancel_)) return cancelled();
  }
  return Status::ok();
}

Status RunState::run_step(const ResolvedStep& step, ThreadPool::Team& team) {
  return run_phases(step, step.plan, arena_.data() + step.scratch_offset,
                    arena_.data() + step.chunk_scratch_offset, team);
}

Status RunState::allocate_output(void* self_pointer, size_t output, const Shape& shape) {
  RunState& self = *static_cast<RunState*>(self_pointer);
  const int32_t b = self.allocating_ == nullptr ? -1 : self.allocating_->outputs[output];
  if (b < 0) return Status(ErrorCode::kFail, "no output to allocate here");
  if (self.signature_->places[b].kind != Place::Kind::kDynamic) {
    return self.check_static(b, self.views_[b].type, shape);
  }
  try {
    self.dynamic_[b] = Tensor::allocate(self.views_[b].type, shape);
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
  self.views_[b].shape = shape;
  self.views_[b].data = self.dynamic_[b].raw();
  return Status::ok();
}

Status RunState::check_static(int32_t b, DataType type, const Shape& shape) {
  const TensorView& expected = signature_->views[b];
  views_[b].shape = expected.shape;
  if (type == expected.type && shape == expected.shape) return Status::ok();
  return Status(ErrorCode::kInvalidGraph,
                fmt::format("'{}' became a {}{}, inference says {}{}",
                            bound_.program.buffers[b].name, name_of(type), to_string(shape),
                            name_of(expected.type), to_string(expected.shape)));
}

Status RunState::give_output(void* self_pointer, size_t output, Tensor tensor) {
  RunState& self = *static_cast<RunState*>(self_pointer);
  const int32_t b = self.allocating_ == nullptr ? -1 : self.allocating_->outputs[output];
  if (b < 0) return Status(ErrorCode::kFail, "no output to give here");
  SDX_RETURN_IF_FAILED(check_type(self.bound_.program.buffers[b], tensor));
  self.views_[b] = {tensor.type(), tensor.shape(), tensor.raw()};
  self.dynamic_[b] = std::move(tensor);
  return Status::ok();
}

// Gives a control-flow kernel the subgraphs of its step; other steps have none.
class RunState::Subgraphs final : public SubgraphRunner {
 public:
  Subgraphs(RunState& state, int32_t step, ThreadPool::Team& team)
      : state_(state), step_(step), team_(team) {}

  Status run(std::string_view attribute, std::span<const Tensor> inputs,
             std::span<Tensor> outputs) override {
    if (is_set(state_.cancel_)) return cancelled();
    const auto& subs = state_.bound_.subprograms;
    for (size_t i = 0; i < subs.size(); ++i) {
      if (subs[i].step != step_ || subs[i].attribute != attribute) continue;
      std::vector<Tensor> operands(inputs.begin(), inputs.end());
      for (int32_t captured : subs[i].captures) {
        const TensorView& view = state_.views_[captured];
        operands.push_back(Tensor::view(view.type, view.shape, view.data));
      }
      Executor& nested = state_.executor_->nested(i);
      const Program& body = nested.bound().program;
      if (operands.size() != body.inputs.size() || outputs.size() != body.outputs.size()) {
        return Status(
            ErrorCode::kInvalidArgument,
            fmt::format("{} takes {} inputs and has {} outputs, got {} and {}", attribute,
                        body.inputs.size(), body.outputs.size(), operands.size(), outputs.size()));
      }
      for (size_t k = 0; k < operands.size(); ++k) {
        const ProgramBuffer& formal = body.buffers[body.inputs[k]];
        if (formal.type.kind == ValueType::Kind::kOptional && operands[k].type() != kOptionalType) {
          // A Loop may start with an optional and carry on with what one holds.
          const Tensor held = operands[k].owner() ? operands[k] : operands[k].clone();
          operands[k] = tensor_of_values(kOptionalType, {&held, 1});
        }
        SDX_RETURN_IF_FAILED(check_type(formal, operands[k]));
      }
      try {
        nested.run(operands, outputs, state_.cancel_, nullptr, &team_);
      } catch (const Error& error) {
        return Status(error.code(), std::string(attribute) + ": " + error.what());
      } catch (const std::bad_alloc&) {
        return Status(ErrorCode::kFail, "out of memory");
      }
      return Status::ok();
    }
    return Status(ErrorCode::kFail, fmt::format("the step has no subgraph '{}'", attribute));
  }

 private:
  RunState& state_;
  const int32_t step_;
  ThreadPool::Team& team_;
};

Status RunState::run_giving_step(const ResolvedStep& step, ThreadPool::Team& team) {
  const BoundStep& bound = bound_.steps[step.step];
  allocating_ = &bound;
  Subgraphs subgraphs(*this, step.step, team);
  RunContext context;
  context.inputs = steps_[step.step].inputs;
  context.outputs = steps_[step.step].outputs;
  context.subgraphs = &subgraphs;
  const auto wanted = std::make_unique<bool[]>(bound.outputs.size());
  for (size_t i = 0; i < bound.outputs.size(); ++i) wanted[i] = bound.outputs[i] >= 0;
  context.wanted = wanted.get();
  context.give = &RunState::give_output;
  context.allocator = this;
  try {
    return bound.kernel->run(context);
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kFail, "out of memory");
  }
}

Status RunState::take_branch_outputs(const ResolvedStep& step) {
  const std::vector<int32_t>& outputs = bound_.steps[step.step].outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int32_t b = outputs[i];
    if (b < 0 || signature_->places[b].kind != Place::Kind::kDynamic) continue;
    const int32_t from = bound_.branches[step.branch].outputs[i];
    views_[b] = views_[from];
    dynamic_[b] = dynamic_[from];
  }
  return Status::ok();
}

Status RunState::run_dynamic_step(const ResolvedStep& step, ThreadPool::Team& team) {
  const BoundStep& bound = bound_.steps[step.step];
  if (step.branch >= 0) return take_branch_outputs(step);
  if (bound.gives_outputs) return run_giving_step(step, team);
  const Node& node = bound_.program.steps[step.step];
  const StepViews& views = steps_[step.step];
  try {
    const std::vector<bool> known(views.inputs.size(), true);
    const bool complete =
        infer_step(node, *bound.op, views.inputs, known, views.outputs, infer_scratch_);
    check_output_types(bound_.program, bound.outputs, views.outputs);
    if (!complete && !bound.op->has(kDataDependentShape)) {
      return Status(ErrorCode::kFail, "the shape of an output could not be told while running");
    }
    allocating_ = &bound;
    if (complete && !bound.op->has(kDataDependentShape)) {
      for (size_t i = 0; i < bound.outputs.size(); ++i) {
        if (bound.outputs[i] < 0) continue;
        const Shape shape = views.outputs[i]->shape;
        SDX_RETURN_IF_FAILED(allocate_output(this, i, shape));
      }
    }
    if (complete && !bound.op->has(kDataDependentShape) && are_all_empty(views.outputs)) {
      return Status::ok();
    }
    StepPlan plan;
    const ResolveContext context(node, views.inputs, {views.outputs.data(), views.outputs.size()});
    SDX_RETURN_IF_FAILED(bound.kernel->resolve(context, plan));
    int most_chunks = 1;
    for (int phase = 0; phase < plan.phases; ++phase) {
      most_chunks = std::max(most_chunks, plan.chunks[phase]);
    }
    const int64_t shared = round_up(plan.scratch_bytes);
    Tensor scratch;
    const int64_t total = shared + plan.scratch_bytes_per_chunk * most_chunks;
    if (total > 0) scratch = Tensor::allocate(DataType::kUint8, Shape{total});
    auto* memory = static_cast<std::byte*>(scratch.raw());
    return run_phases(step, plan, memory, memory + shared, team);
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kFail, "out of memory");
  }
}

}  // namespace sardonyx
