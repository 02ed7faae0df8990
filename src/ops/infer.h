// InferContext: what an operator's `infer` sees and fills: element types, shapes and small integer
// values, before run time (dims symbolic or unknown) and again with concrete numbers when a new
// input signature arrives. The same function serves both, so it must not assume that anything is
// known.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace sardonyx {

// At most this many elements of an integer tensor are tracked as Dims.
inline constexpr size_t kMaxTrackedInts = 64;

struct InferInput {
  const ValueType* type = nullptr;   // null: the optional input is absent
  const Tensor* constant = nullptr;  // its contents, when known
  const Dims* ints = nullptr;        // its elements as Dims, when tracked (also set for constants)
};

// Can an element of `type` hold `dim`, when it is a known number?
bool fits_element(DataType type, const Dim& dim);

struct InferOutput {
  ValueType type;
  std::optional<Dims> ints;
};

class InferContext {
 public:
  // Infers the outputs of a subgraph attribute for given input types; null where control flow is
  // not available.
  using SubgraphInfer =
      std::function<std::vector<ValueType>(const Graph& body, std::span<const ValueType> inputs)>;

  InferContext(const Node& node, DimTable& dims, std::span<const InferInput> inputs,
               std::span<InferOutput> outputs, const SubgraphInfer* subgraph_infer = nullptr)
      : node_(node),
        dims_(dims),
        inputs_(inputs),
        outputs_(outputs),
        subgraph_infer_(subgraph_infer) {}

  const Node& node() const { return node_; }
  DimTable& dims() { return dims_; }

  size_t input_count() const { return inputs_.size(); }
  bool has_input(size_t i) const { return i < inputs_.size() && inputs_[i].type != nullptr; }
  const ValueType& input_type(size_t i) const { return *inputs_[i].type; }
  DataType input_element(size_t i) const {
    return has_input(i) ? inputs_[i].type->element : DataType::kUndefined;
  }
  // nullopt: rank unknown (or the input is absent).
  const SymShape& input_shape(size_t i) const;
  const Tensor* input_constant(size_t i) const {
    return i < inputs_.size() ? inputs_[i].constant : nullptr;
  }
  // Elements of a small integer or bool tensor; each may be unknown. nullopt: not even the count.
  std::optional<Dims> input_ints(size_t i) const;
  // input_ints when every element is a known number.
  std::optional<SmallVector<int64_t, 8>> input_known_ints(size_t i) const;
  // Contents of a known float/double/float16-free small tensor (float, double); else nullopt.
  std::optional<SmallVector<double, 8>> input_floats(size_t i) const;

  size_t output_count() const { return outputs_.size(); }
  bool wants_output(size_t i) const {
    return i < outputs_.size() && node_.output(i) != ValueId::kNone;
  }
  // Ignored when the node does not have output i.
  void set_output(size_t i, ValueType type);
  void set_output(size_t i, DataType element, SymShape shape) {
    set_output(i, ValueType::tensor(element, std::move(shape)));
  }
  // Numbers that the element type cannot hold become unknown.
  void set_output_ints(size_t i, Dims elements);

  std::vector<ValueType> infer_subgraph(const Graph& body, std::span<const ValueType> inputs) const;

  // Throws Error(kInvalidGraph): "<op 'name'>: message" with the input types and shapes.
  [[noreturn]] void fail(const std::string& message) const;

  // --- what many operators share ---
  // Output 0 = element type and shape of input i.
  void same_as_input(size_t i = 0);
  // Numpy broadcast of all given input shapes; fails on a clash.
  SymShape broadcast_inputs(std::span<const size_t> inputs);
  // A negative axis counted from the back; fails naming axis and rank when outside [-rank, rank-1].
  int64_t normalize_axis(int64_t axis, size_t rank) const;

 private:
  const Node& node_;
  DimTable& dims_;
  std::span<const InferInput> inputs_;
  std::span<InferOutput> outputs_;
  const SubgraphInfer* subgraph_infer_;
};

}  // namespace sardonyx
