// Kernel: an operator made ready for one node. Life: `prepare` of the OpDef builds it once per node
// (bind); `resolve` is called once per input signature, when shapes are concrete, and says how the
// step is split and what memory it needs; `run` is called for every chunk of every Run, by any
// thread. Nothing is allocated in `run`, nothing is thrown, and a chunk's result depends on shapes
// only, never on the number of threads.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/cpu.h"
#include "base/status.h"
#include "ir/graph.h"
#include "tensor/tensor.h"

namespace sardonyx {

// A tensor in memory while a step runs; a sequence or optional is one of Tensor objects. Row-major,
// contiguous; data is 64-byte aligned when it lies in the arena, and aligned to its element
// otherwise.
struct TensorView {
  DataType type = DataType::kUndefined;
  Shape shape;
  void* data = nullptr;

  bool is_present() const { return type != DataType::kUndefined; }
  int64_t size() const { return element_count(shape); }
  int64_t size_bytes() const { return *storage_bytes(type, size()); }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

struct Range {
  int64_t begin = 0;
  int64_t end = 0;
};

inline constexpr int kMaxPhases = 4;
// Work below this many nanoseconds stays on one thread; a chunk should be worth about this much.
inline constexpr double kChunkNanoseconds = 5000.0;
inline constexpr int kMaxChunks = 64;

// What a kernel tells about one node under one signature. Filled by Kernel::resolve.
struct StepPlan {
  int phases = 1;                                     // run one after the other, a barrier between
  std::array<int, kMaxPhases> chunks = {1, 1, 1, 1};  // parallel chunks of each phase
  int64_t scratch_bytes = 0;                          // shared by all chunks of the step
  int64_t scratch_bytes_per_chunk = 0;                // private to each running chunk
  std::shared_ptr<const void> state;                  // index tables and the like, for run

  // Splits `units` of equal work into chunks by estimated cost; at least one chunk, at most one per
  // unit.
  void split(int phase, int64_t units, double nanoseconds_per_unit);
  void split(int64_t units, double nanoseconds_per_unit) { split(0, units, nanoseconds_per_unit); }
};

class ResolveContext {
 public:
  ResolveContext(const Node& node, std::span<const TensorView* const> inputs,
                 std::span<const TensorView* const> outputs)
      : node_(node), inputs_(inputs), outputs_(outputs) {}

  const Node& node() const { return node_; }
  size_t input_count() const { return inputs_.size(); }
  size_t output_count() const { return outputs_.size(); }
  bool has_input(size_t i) const { return i < inputs_.size() && inputs_[i]->is_present(); }
  bool has_output(size_t i) const { return i < outputs_.size() && outputs_[i]->is_present(); }
  const Shape& input_shape(size_t i) const { return inputs_[i]->shape; }
  const Shape& output_shape(size_t i) const { return outputs_[i]->shape; }
  DataType input_type(size_t i) const { return inputs_[i]->type; }
  DataType output_type(size_t i) const { return outputs_[i]->type; }
  // The contents of input i. Only inputs in the OpDef's `value_inputs` have data here.
  const TensorView& input_values(size_t i) const { return *inputs_[i]; }

 private:
  const Node& node_;
  std::span<const TensorView* const> inputs_;
  std::span<const TensorView* const> outputs_;
};

// Runs the subgraphs of a control-flow node (If, Loop, Scan) from inside its kernel's run;
// implemented by exec.
class SubgraphRunner {
 public:
  virtual ~SubgraphRunner() = default;
  // attribute: which subgraph. inputs: its formal inputs; what it captures is supplied. outputs:
  // one per output of the subgraph, undefined; set by the call.
  virtual Status run(std::string_view attribute, std::span<const Tensor> inputs,
                     std::span<Tensor> outputs) = 0;
};

class RunContext {
 public:
  std::span<const TensorView* const> inputs;
  std::span<TensorView* const> outputs;
  const void* state = nullptr;         // StepPlan::state
  std::byte* scratch = nullptr;        // StepPlan::scratch_bytes
  std::byte* chunk_scratch = nullptr;  // StepPlan::scratch_bytes_per_chunk, this chunk's own
  int phase = 0;
  int chunk = 0;
  int chunks = 1;

  bool has_input(size_t i) const { return i < inputs.size() && inputs[i]->is_present(); }
  bool has_output(size_t i) const { return i < outputs.size() && outputs[i]->is_present(); }
  const TensorView& input(size_t i) const { return *inputs[i]; }
  const TensorView& output(size_t i) const { return *outputs[i]; }
  // Input i with borrowed memory.
  Tensor input_tensor(size_t i) const {
    return Tensor::view(inputs[i]->type, inputs[i]->shape, inputs[i]->data);
  }
  template <typename T>
  const T* in(size_t i) const {
    return static_cast<const T*>(inputs[i]->data);
  }
  template <typename T>
  T* out(size_t i) const {
    return static_cast<T*>(outputs[i]->data);
  }
  template <typename T>
  const T& state_as() const {
    return *static_cast<const T*>(state);
  }
  // This chunk's part of [0, total).
  Range part(int64_t total) const { return {total * chunk / chunks, total * (chunk + 1) / chunks}; }
  // Memory for an output whose shape `infer` could not tell (trait kDataDependentShape); called
  // from the only chunk. Sets the view's shape and data.
  Status allocate_output(size_t i, const Shape& shape) const;

  // Does the node have output i? (has_output is false, too, while its type is not known.)
  bool is_wanted(size_t i) const { return wanted == nullptr || wanted[i]; }
  // Makes `tensor` output i (control flow, sequences and optionals); called from the only chunk.
  // It must own its bytes, and so must its elements: inputs may lie in the arena.
  Status give_output(size_t i, Tensor tensor) const;

  SubgraphRunner* subgraphs = nullptr;  // of a control-flow node
  const bool* wanted = nullptr;         // per output; null: all

  // Set by exec; take (context of exec, output index, ...).
  Status (*allocate)(void*, size_t, const Shape&) = nullptr;
  Status (*give)(void*, size_t, Tensor) = nullptr;
  void* allocator = nullptr;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual Status resolve(const ResolveContext& context, StepPlan& plan) const {
    (void)context;
    (void)plan;
    return Status::ok();
  }
  virtual Status run(const RunContext& context) const = 0;
};

// What `prepare` sees: the node, its element types, what is constant.
struct PrepareContext {
  const Node& node;
  std::span<const ValueType* const> input_types;   // null: absent
  std::span<const Tensor* const> input_constants;  // null: not constant
  std::span<const ValueType* const> output_types;  // null: absent
  Isa isa;

  size_t input_count() const { return input_types.size(); }
  bool has_input(size_t i) const { return i < input_types.size() && input_types[i] != nullptr; }
  DataType input_element(size_t i) const {
    return has_input(i) ? input_types[i]->element : DataType::kUndefined;
  }
  DataType output_element(size_t i) const {
    return i < output_types.size() && output_types[i] ? output_types[i]->element
                                                      : DataType::kUndefined;
  }
  const Tensor* constant(size_t i) const {
    return i < input_constants.size() ? input_constants[i] : nullptr;
  }
  // Throws Error(kNotImplemented) naming the node, the types received and those supported.
  [[noreturn]] void unsupported(const std::string& supported) const;
};

}  // namespace sardonyx
