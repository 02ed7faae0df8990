// RunState: the memory of one Run at a time: an arena and the views of every buffer, set for one
// signature. Reused from Run to Run; rebinding to another signature only rewrites views.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "exec/buffer_pool.h"
#include "exec/evaluate.h"
#include "exec/growing_memory.h"
#include "exec/signature.h"

namespace sardonyx {

// One step of one Run, seen when it has ended. Times are of the steady clock.
struct StepEvent {
  int32_t step = 0;  // into BoundProgram::steps
  std::chrono::steady_clock::time_point begin, end;
  std::span<const TensorView* const> inputs;
  std::span<TensorView* const> outputs;
};
using StepObserver = std::function<void(const StepEvent& event)>;

class Executor;

class RunState {
 public:
  // executor: runs the program's subprograms; null when it has none.
  RunState(const BoundProgram& bound, Executor* executor);
  ~RunState();
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;

  const Signature* signature() const { return signature_.get(); }
  int64_t arena_capacity() const { return arena_.size_bytes(); }

  // Throws Error(kFail) when the arena cannot be had.
  void set_signature(std::shared_ptr<const Signature> signature);

  // After a Run: frees an arena of which the last Runs needed less than half.
  void settle();

  // Runs all steps. outputs: all defined, or undefined where the signature does not know the shape;
  // those are set by the run.
  // observer: null, or called after every step on the calling thread; must not throw.
  Status run(std::span<const Tensor> inputs, std::span<Tensor> outputs, ThreadPool::Team& team,
             const std::atomic<bool>* cancel, const StepObserver* observer = nullptr);

 private:
  struct StepViews {
    std::vector<const TensorView*> inputs;
    std::vector<TensorView*> outputs;
  };
  // A buffer whose address changes from Run to Run.
  struct Patch {
    int32_t buffer;
    int32_t index;  // of the input or output
  };
  struct Job;
  class Subgraphs;

  Status run_step(const ResolvedStep& step, ThreadPool::Team& team);
  // Of an output whose memory was planned although its step is dynamic.
  Status check_static(int32_t b, DataType type, const Shape& shape);
  Status take_branch_outputs(const ResolvedStep& step);
  Status run_dynamic_step(const ResolvedStep& step, ThreadPool::Team& team);
  Status run_phases(const ResolvedStep& step, const StepPlan& plan, std::byte* scratch,
                    std::byte* chunk_scratch, ThreadPool::Team& team);
  static void run_chunk(void* job, int chunk);
  Status run_giving_step(const ResolvedStep& step, ThreadPool::Team& team);
  static Status allocate_output(void* self, size_t output, const Shape& shape);
  static Status give_output(void* self, size_t output, Tensor tensor);
  void copy_outputs(std::span<Tensor> outputs);

  const BoundProgram& bound_;
  Executor* const executor_;
  const std::atomic<bool>* cancel_ = nullptr;
  std::shared_ptr<const Signature> signature_;
  GrowingMemory arena_;
  int runs_ = 0;             // since the arena was last looked at
  int64_t most_needed_ = 0;  // arena bytes, by any of them
  std::vector<TensorView> views_;
  std::vector<StepViews> steps_;
  std::vector<Patch> input_patches_;
  std::vector<Patch> output_patches_;
  std::vector<Tensor> dynamic_;  // per buffer; memory of kDynamic ones
  InferScratch infer_scratch_;
  const BoundStep* allocating_ = nullptr;
};

}  // namespace sardonyx
