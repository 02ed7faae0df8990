#include "exec/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/float_mode.h"
#include "exec/given_outputs.h"
#include "exec/splice.h"
#include "sardonyx/error.h"
#include "tensor/memory.h"

namespace sardonyx {
namespace {

// A Run estimated below this stays on the calling thread: waking a worker would cost more.
constexpr double kSmallestTeamNanoseconds = 50000.0;

// Are type and shape of the buffer known before the Run?
bool is_known_ahead(const Signature& signature, int32_t buffer) {
  return signature.places[buffer].kind != Place::Kind::kDynamic &&
         !holds_values(signature.views[buffer].type);
}

// A state that waits while so many Runs end is one more than is needed.
constexpr uint64_t kMostIdleRuns = 64;

// See Executor::condition_misses_.
constexpr int kMostConditionMisses = 16;

}  // namespace

Executor::Executor(std::shared_ptr<const BoundProgram> bound, std::shared_ptr<ThreadPool> pool,
                   ExecutorOptions options)
    : bound_(std::move(bound)),
      pool_(std::move(pool)),
      options_(options),
      nested_(bound_->subprograms.size()) {}

Executor& Executor::nested(size_t index) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Executor>& nested = nested_[index];
  if (!nested) {
    nested =
        std::make_unique<Executor>(body_of(*bound_, bound_->subprograms[index]), pool_, options_);
  }
  return *nested;
}

std::shared_ptr<const Signature> Executor::find_signature(const SignatureKey& key) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < signatures_.size(); ++i) {
    if (signatures_[i]->key != key) continue;
    std::rotate(signatures_.begin(), signatures_.begin() + static_cast<int64_t>(i),
                signatures_.begin() + static_cast<int64_t>(i) + 1);
    return signatures_.front();
  }
  return nullptr;
}

std::shared_ptr<const Signature> Executor::signature_for(std::span<const Tensor> inputs) {
  const bool conditions = conditions_.load(std::memory_order_relaxed);
  std::shared_ptr<const Signature> found = find_signature(make_key(*bound_, inputs, conditions));
  return found ? found : add_signature(inputs, conditions);
}

std::shared_ptr<const Signature> Executor::add_signature(std::span<const Tensor> inputs,
                                                         bool conditions) {
  std::shared_ptr<const Signature> fresh = resolve_signature(*bound_, inputs, conditions);
  std::shared_ptr<const Signature> evicted;  // freed without the lock
  const std::lock_guard lock(mutex_);
  const auto differs_in_conditions = [&](const std::shared_ptr<const Signature>& other) {
    return other->key_without_conditions == fresh->key_without_conditions;
  };
  if (conditions && fresh->key.size() != fresh->key_without_conditions.size() &&
      std::any_of(signatures_.begin(), signatures_.end(), differs_in_conditions) &&
      ++condition_misses_ > kMostConditionMisses) {
    conditions_.store(false, std::memory_order_relaxed);
  }
  signatures_.insert(signatures_.begin(), fresh);
  if (signatures_.size() > options_.max_signatures) {
    evicted = std::move(signatures_.back());
    signatures_.pop_back();
  }
  return fresh;
}

void Executor::check_memory(const Signature& signature, const MemoryBudget& budget) const {
  int64_t output_bytes = 0;
  for (int32_t buffer : bound_->program.outputs) {
    if (!is_known_ahead(signature, buffer)) continue;
    if (__builtin_add_overflow(output_bytes, signature.views[buffer].size_bytes(), &output_bytes)) {
      output_bytes = std::numeric_limits<int64_t>::max();
      break;
    }
  }
  int64_t bytes;
  if (!__builtin_add_overflow(signature.arena.size_bytes, output_bytes, &bytes) &&
      budget.allows(bytes)) {
    return;
  }
  const std::string held =
      budget.used() == 0 ? "" : fmt::format(" beside the {} that it holds", budget.used());
  throw Error(ErrorCode::kFail,
              fmt::format("the run needs an arena of {} bytes and {} bytes for its outputs{}, the "
                          "memory limit is {}; raise memory_limit_bytes or use smaller inputs",
                          signature.arena.size_bytes, output_bytes, held, budget.limit()));
}

Tensor Executor::allocate_output(int32_t buffer, const TensorView& view,
                                 const std::shared_ptr<MemoryBudget>& budget) {
  Tensor tensor;
  try {
    tensor = outputs_.allocate(view.type, view.shape);
  } catch (const Error& error) {
    throw error.with_context(fmt::format("output '{}'", bound_->program.buffers[buffer].name));
  }
  if (budget == nullptr) return tensor;
  std::shared_ptr<void> memory = std::const_pointer_cast<void>(tensor.owner());
  return Tensor::view(view.type, view.shape, tensor.raw(),
                      MemoryCharge(budget, view.size_bytes()).with(std::move(memory)));
}

std::unique_ptr<RunState> Executor::take_state(const Signature* wanted) {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return nullptr;
  auto best = std::find_if(idle_.begin(), idle_.end(), [&](const IdleState& idle) {
    return idle.state->signature() == wanted;
  });
  if (best == idle_.end()) best = idle_.end() - 1;
  std::unique_ptr<RunState> state = std::move(best->state);
  idle_.erase(best);
  return state;
}

void Executor::give_state(std::unique_ptr<RunState> state) {
  state->settle();
  std::vector<std::unique_ptr<RunState>> unused;  // freed without the lock
  const std::lock_guard lock(mutex_);
  ++runs_;
  idle_.push_back({std::move(state), runs_});
  const auto is_stale = [&](const IdleState& idle) { return runs_ - idle.since > kMostIdleRuns; };
  while (!idle_.empty() && (idle_.size() > options_.max_idle_states || is_stale(idle_.front()))) {
    unused.push_back(std::move(idle_.front().state));
    idle_.erase(idle_.begin());
  }
}

void Executor::trim() {
  std::vector<IdleState> idle;
  std::vector<Executor*> nested;
  {
    const std::lock_guard lock(mutex_);
    idle.swap(idle_);
    for (const auto& executor : nested_) {
      if (executor) nested.push_back(executor.get());
    }
  }
  outputs_.trim();
  for (Executor* executor : nested) executor->trim();
}

void Executor::run(std::span<const Tensor> inputs, std::span<Tensor> outputs,
                   const std::atomic<bool>* cancel, const StepObserver* observer,
                   ThreadPool::Team* team) {
  const std::shared_ptr<const Signature> signature = signature_for(inputs);
  // A Run inside another one shares its budget. What lasts longer than a Run (an arena, what the
  // pool keeps) counts as far as this one uses it.
  std::shared_ptr<MemoryBudget> budget = MemoryBudget::current();
  if (budget == nullptr && options_.memory_limit_bytes > 0) {
    budget = std::make_shared<MemoryBudget>(options_.memory_limit_bytes);
  }
  if (budget != nullptr) check_memory(*signature, *budget);
  const std::shared_ptr<MemoryBudget> none;
  const BudgetScope uncounted(none);
  const MemoryCharge arena(budget, signature->arena.size_bytes);
  GivenOutputs given(*bound_, *signature, inputs, outputs);
  std::unique_ptr<RunState> state = take_state(signature.get());
  if (!state) state = std::make_unique<RunState>(*bound_, this);
  if (state->signature() != signature.get()) state->set_signature(signature);
  arena_bytes_.store(signature->arena.size_bytes, std::memory_order_relaxed);

  for (size_t o = 0; o < outputs.size(); ++o) {
    if (outputs[o].is_defined()) continue;
    const int32_t buffer = bound_->program.outputs[o];
    if (is_known_ahead(*signature, buffer)) {
      outputs[o] = allocate_output(buffer, signature->views[buffer], budget);
    }
  }
  const FloatModeScope float_mode;
  const BudgetScope counted(budget);
  Status status;
  if (team != nullptr) {
    status = state->run(inputs, outputs, *team, cancel, observer);
  } else {
    const bool worth_a_team = signature->estimated_nanoseconds >= kSmallestTeamNanoseconds;
    ThreadPool::Team own(worth_a_team ? pool_.get() : nullptr);
    status = state->run(inputs, outputs, own, cancel, observer);
  }
  give_state(std::move(state));
  status.throw_if_failed();
  given.finish(outputs);
}

}  // namespace sardonyx
