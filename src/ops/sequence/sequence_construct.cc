// SequenceConstruct and SequenceEmpty: sequences from tensors, or from nothing.
#include <fmt/format.h>

#include "ops/op.h"
#include "ops/sequence/sequence.h"

namespace sardonyx {
namespace {

constexpr OpVersion kConstructVersions[] = {
    {11, "inputs: T... -> output_sequence: S | | T: @all1, S: @seq1"},
};
constexpr OpVersion kEmptyVersions[] = {
    {11, "-> output: S | dtype: int? | S: @seq1"},
};

void infer_construct(InferContext& context) {
  ValueType item = context.has_input(0) ? context.input_type(0) : ValueType();
  for (size_t i = 1; i < context.input_count(); ++i) {
    item = either(item, context.has_input(i) ? context.input_type(i) : ValueType());
  }
  context.set_output(0, ValueType::sequence(std::move(item)));
}

class ConstructKernel final : public Kernel {
 public:
  Status run(const RunContext& context) const override {
    std::vector<Tensor> items;
    for (size_t i = 0; i < context.inputs.size(); ++i) {
      SDX_RETURN_IF_FAILED(check_same_type(context.input(i).type, items));
      items.push_back(context.input_tensor(i).clone());
    }
    return context.give_output(0, tensor_of_values(kSequenceType, items));
  }
};

void infer_empty(InferContext& context) {
  const int64_t number =
      context.node().attributes.get_int("dtype", static_cast<int64_t>(DataType::kFloat));
  if (!is_data_type(number)) {
    context.fail(fmt::format("'dtype' is {}, which is no element type (1 to {})", number,
                             kDataTypeCount - 1));
  }
  context.set_output(0, ValueType::sequence(ValueType::tensor(static_cast<DataType>(number))));
}

class EmptyKernel final : public Kernel {
 public:
  Status run(const RunContext& context) const override {
    return context.give_output(0, tensor_of_values(kSequenceType, {}));
  }
};

std::unique_ptr<Kernel> prepare_construct(const PrepareContext&) {
  return std::make_unique<ConstructKernel>();
}
std::unique_ptr<Kernel> prepare_empty(const PrepareContext&) {
  return std::make_unique<EmptyKernel>();
}

}  // namespace

extern const OpDef kSequenceConstruct = {.domain = "",
                                         .name = "SequenceConstruct",
                                         .versions = kConstructVersions,
                                         .traits = kNoFold,
                                         .infer = infer_construct,
                                         .prepare = prepare_construct};

extern const OpDef kSequenceEmpty = {.domain = "",
                                     .name = "SequenceEmpty",
                                     .versions = kEmptyVersions,
                                     .traits = kNoFold,
                                     .infer = infer_empty,
                                     .prepare = prepare_empty};

}  // namespace sardonyx
