// Executor: runs a BoundProgram. Keeps the resolved signatures (bounded, least recently used goes
// first) and a pool of run states, so that N Runs at once use N arenas. `run` is thread safe.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/fork.h"
#include "base/thread_pool.h"
#include "exec/buffer_pool.h"
#include "exec/run_state.h"
#include "exec/signature.h"

namespace sardonyx {

class MemoryBudget;

struct ExecutorOptions {
  int64_t memory_limit_bytes = 0;  // of what one Run holds at once; 0: none
  size_t max_signatures = 32;
  size_t max_idle_states = 4;
};

class Executor {
 public:
  // pool: null runs on the calling thread alone.
  Executor(std::shared_ptr<const BoundProgram> bound, std::shared_ptr<ThreadPool> pool,
           ExecutorOptions options);

  // inputs: one per program input, types as the program's. outputs: one per program output; a
  // defined one is the caller's memory and must have the result's type and shape, an undefined one
  // is allocated. observer: see RunState::run. team:
  // null, or that of the Run that this one is part of. Throws Error; kFail with "cancelled" when
  // *cancel became true.
  void run(std::span<const Tensor> inputs, std::span<Tensor> outputs,
           const std::atomic<bool>* cancel, const StepObserver* observer = nullptr,
           ThreadPool::Team* team = nullptr);

  const BoundProgram& bound() const { return *bound_; }
  // Runs bound().subprograms[index].
  Executor& nested(size_t index);
  // Gives idle arenas and unused output memory back; a Run meanwhile keeps its own.
  void trim();
  // Arena bytes of the signature used last; 0 before the first Run.
  int64_t arena_bytes() const { return arena_bytes_.load(std::memory_order_relaxed); }
  // The signature these inputs would use (for inspection).
  std::shared_ptr<const Signature> signature_for(std::span<const Tensor> inputs);

 private:
  std::shared_ptr<const Signature> find_signature(const SignatureKey& key);
  std::shared_ptr<const Signature> add_signature(std::span<const Tensor> inputs, bool conditions);
  // Throws Error(kFail) when the memory that is planned is more than the budget allows.
  void check_memory(const Signature& signature, const MemoryBudget& budget) const;
  Tensor allocate_output(int32_t buffer, const TensorView& view,
                         const std::shared_ptr<MemoryBudget>& budget);
  std::unique_ptr<RunState> take_state(const Signature* wanted);
  void give_state(std::unique_ptr<RunState> state);

  const std::shared_ptr<const BoundProgram> bound_;
  const std::shared_ptr<ThreadPool> pool_;
  const ExecutorOptions options_;
  BufferPool outputs_;
  std::atomic<int64_t> arena_bytes_{0};
  ForkMutex mutex_;
  std::vector<std::unique_ptr<Executor>> nested_;             // per subprogram; null until it runs
  std::vector<std::shared_ptr<const Signature>> signatures_;  // most recently used first
  // Signatures that only differ from another one in values that decide conditions. Too many of
  // them, and such values take no part any more: their Ifs are decided while running.
  int condition_misses_ = 0;
  std::atomic<bool> conditions_{true};
  struct IdleState {
    std::unique_ptr<RunState> state;
    uint64_t since = 0;  // Run
  };
  std::vector<IdleState> idle_;  // longest idle first
  uint64_t runs_ = 0;            // that have ended
};

}  // namespace sardonyx
