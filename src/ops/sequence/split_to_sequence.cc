// SplitToSequence: cuts a tensor along an axis, into pieces of given sizes, of one size, or of 1.
#include <fmt/format.h>

#include "ops/op.h"
#include "ops/sequence/sequence.h"
#include "ops/shape/axis_parts.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {11,
     "input: T, split: I? -> output_sequence: S | axis: int = 0, keepdims: int = 1 | T: @all1, I: "
     "int32 int64, S: @seq1"},
    {24,
     "input: T, split: I? -> output_sequence: S | axis: int = 0, keepdims: int = 1 | T: @all13, I: "
     "int32 int64, S: @seq13"},
};

// An axis whose other dimensions are 0 may be of any length without taking memory; its pieces do.
constexpr int64_t kMaxPieces = int64_t{1} << 22;

bool drops_axis(const Node& node) {
  return node.input(1) == ValueId::kNone && node.attributes.get_int("keepdims", 1) == 0;
}

void infer(InferContext& context) {
  const SymShape& input = context.input_shape(0);
  ValueType item = ValueType::tensor(context.input_element(0));
  if (input) {
    const auto axis = static_cast<size_t>(
        context.normalize_axis(context.node().attributes.get_int("axis", 0), input->size()));
    item.shape.emplace();
    for (size_t d = 0; d < input->size(); ++d) {
      if (d != axis) {
        item.shape->push_back((*input)[d]);
      } else if (!drops_axis(context.node())) {
        item.shape->push_back(context.has_input(1) ? Dim::unknown() : Dim(1));
      }
    }
  }
  context.set_output(0, ValueType::sequence(std::move(item)));
}

class SplitToSequenceKernel final : public Kernel {
 public:
  explicit SplitToSequenceKernel(const Node& node)
      : axis_(node.attributes.get_int("axis", 0)), drops_axis_(drops_axis(node)) {}

  Status run(const RunContext& context) const override {
    const Tensor whole = context.input_tensor(0);
    const auto rank = static_cast<int64_t>(whole.shape().size());
    if (axis_ < -rank || axis_ >= rank) {
      return Status(
          ErrorCode::kInvalidArgument,
          fmt::format("axis {} lies outside [{}, {}] of rank {}", axis_, -rank, rank - 1, rank));
    }
    const auto axis = static_cast<size_t>(axis_ < 0 ? axis_ + rank : axis_);
    const int64_t length = whole.shape()[axis];
    if (context.has_input(1) && !context.input(1).shape.empty()) {
      return split_by_sizes(context, whole, axis, integer_values(context.input_tensor(1)));
    }
    const int64_t size =
        context.has_input(1) ? integer_values(context.input_tensor(1))[0] : int64_t{1};
    if (size < 1) {
      return Status(ErrorCode::kInvalidArgument,
                    fmt::format("the size of a piece is {}, expected 1 or more", size));
    }
    const int64_t count = length / size + (length % size != 0 ? 1 : 0);
    if (count > kMaxPieces) {
      return Status(ErrorCode::kInvalidArgument,
                    fmt::format("an axis of {} would be cut into {} pieces, at most {} are "
                                "supported",
                                length, count, kMaxPieces));
    }
    Tensor sequence = Tensor::allocate(kSequenceType, Shape{count});
    for (int64_t i = 0; i < count; ++i) {
      Tensor piece = take_part(whole, axis, i * size, std::min(size, length - i * size));
      if (drops_axis_) {
        Shape shape = piece.shape();
        shape.erase(shape.begin() + axis);
        piece = piece.reshaped(shape);
      }
      sequence.data<Tensor>()[i] = std::move(piece);
    }
    return context.give_output(0, std::move(sequence));
  }

 private:
  static Status split_by_sizes(const RunContext& context, const Tensor& whole, size_t axis,
                               std::span<const int64_t> sizes) {
    const int64_t length = whole.shape()[axis];
    int64_t sum = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] < 0 || __builtin_add_overflow(sum, sizes[i], &sum)) {
        return Status(ErrorCode::kInvalidArgument,
                      fmt::format("size {} of 'split' is {}", i, sizes[i]));
      }
    }
    if (context.input(1).shape.size() != 1 || sum != length) {
      return Status(ErrorCode::kInvalidArgument,
                    fmt::format("'split' has the shape {} and adds up to {}, expected a scalar or "
                                "a list that adds up to {}",
                                to_string(context.input(1).shape), sum, length));
    }
    Tensor sequence = Tensor::allocate(kSequenceType, Shape{static_cast<int64_t>(sizes.size())});
    int64_t at = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      sequence.data<Tensor>()[i] = take_part(whole, axis, at, sizes[i]);
      at += sizes[i];
    }
    return context.give_output(0, std::move(sequence));
  }

  int64_t axis_;
  bool drops_axis_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<SplitToSequenceKernel>(context.node);
}

}  // namespace

extern const OpDef kSplitToSequence = {.domain = "",
                                       .name = "SplitToSequence",
                                       .versions = kVersions,
                                       .traits = kNoFold,
                                       .infer = infer,
                                       .prepare = prepare};

}  // namespace sardonyx
