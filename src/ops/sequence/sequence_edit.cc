// SequenceInsert and SequenceErase: a new sequence that shares its tensors with the old one.
#include <fmt/format.h>

#include "ops/op.h"
#include "ops/sequence/sequence.h"

namespace sardonyx {
namespace {

constexpr OpVersion kInsertVersions[] = {
    {11,
     "input_sequence: S, tensor: T, position: I? -> output_sequence: S | | T: @all1, S: @seq1, I: "
     "int32 int64"},
};
constexpr OpVersion kEraseVersions[] = {
    {11, "input_sequence: S, position: I? -> output_sequence: S | | S: @seq1, I: int32 int64"},
};

void infer_insert(InferContext& context) {
  const ValueType held = item_type(context.input_type(0));
  const ValueType& tensor = context.input_type(1);
  if (held.is_tensor() && tensor.is_tensor() && held.element != tensor.element &&
      held.element != DataType::kUndefined && tensor.element != DataType::kUndefined) {
    context.fail(fmt::format("a tensor of {} does not fit a sequence of {} tensors",
                             name_of(tensor.element), name_of(held.element)));
  }
  ValueType item = held.is_tensor() ? either(held, tensor) : tensor.without_shapes();
  context.set_output(0, ValueType::sequence(std::move(item)));
}

class InsertKernel final : public Kernel {
 public:
  Status run(const RunContext& context) const override {
    const std::span<const Tensor> old = items_of(context.input(0));
    const auto count = static_cast<int64_t>(old.size());
    SDX_RETURN_IF_FAILED(check_same_type(context.input(1).type, old));
    int64_t at = count;
    if (context.has_input(2)) {
      SDX_RETURN_IF_FAILED(read_position(context.input(2), count, true, at));
    }
    Tensor sequence = Tensor::allocate(kSequenceType, Shape{count + 1});
    Tensor* items = sequence.data<Tensor>();
    std::copy_n(old.begin(), at, items);
    items[at] = context.input_tensor(1).clone();
    std::copy(old.begin() + at, old.end(), items + at + 1);
    return context.give_output(0, std::move(sequence));
  }
};

class EraseKernel final : public Kernel {
 public:
  Status run(const RunContext& context) const override {
    const std::span<const Tensor> old = items_of(context.input(0));
    const auto count = static_cast<int64_t>(old.size());
    if (count == 0) {
      return Status(ErrorCode::kInvalidArgument, "the sequence is empty: nothing can be erased");
    }
    int64_t at = count - 1;
    if (context.has_input(1)) {
      SDX_RETURN_IF_FAILED(read_position(context.input(1), count, false, at));
    }
    Tensor sequence = Tensor::allocate(kSequenceType, Shape{count - 1});
    Tensor* items = sequence.data<Tensor>();
    std::copy_n(old.begin(), at, items);
    std::copy(old.begin() + at + 1, old.end(), items + at);
    return context.give_output(0, std::move(sequence));
  }
};

std::unique_ptr<Kernel> prepare_insert(const PrepareContext& context) {
  require_sequence(context);
  return std::make_unique<InsertKernel>();
}
std::unique_ptr<Kernel> prepare_erase(const PrepareContext& context) {
  require_sequence(context);
  return std::make_unique<EraseKernel>();
}

}  // namespace

extern const OpDef kSequenceInsert = {.domain = "",
                                      .name = "SequenceInsert",
                                      .versions = kInsertVersions,
                                      .traits = kNoFold,
                                      .infer = infer_insert,
                                      .prepare = prepare_insert};

extern const OpDef kSequenceErase = {
    .domain = "",
    .name = "SequenceErase",
    .versions = kEraseVersions,
    .traits = kNoFold,
    .infer = [](InferContext& context) { context.same_as_input(0); },
    .prepare = prepare_erase};

}  // namespace sardonyx
