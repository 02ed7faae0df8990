// SequenceMap: runs its body for every tensor of a sequence, and of further sequences alongside;
// inputs that are tensors are the same each time.
#include <fmt/format.h>

#include "ops/op.h"
#include "ops/sequence/sequence.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {17,
     "input_sequence: S, additional_inputs: V~...0 -> out_sequence: S~... | body: graph! | S: "
     "@seq1, V: @all1 @seq1"},
};

void infer(InferContext& context) {
  const Graph* body = subgraph_of(context.node(), "body");
  if (body == nullptr) return;
  std::vector<ValueType> inputs;
  for (size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has_input(i)) context.fail(fmt::format("input {} is absent", i));
    const ValueType& type = context.input_type(i);
    inputs.push_back(type.kind == ValueType::Kind::kSequence ? item_type(type) : type);
  }
  if (body->inputs().size() != inputs.size()) {
    context.fail(
        fmt::format("the body has {} inputs, the node {}", body->inputs().size(), inputs.size()));
  }
  const std::vector<ValueType> results = context.infer_subgraph(*body, inputs);
  if (results.size() != context.output_count()) {
    context.fail(fmt::format("the body has {} outputs, the node {}", results.size(),
                             context.output_count()));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].holds_values()) {
      context.fail(fmt::format("output {} of the body is {}, expected a tensor", i,
                               type_string(results[i])));
    }
    context.set_output(i, ValueType::sequence(results[i]));
  }
}

class SequenceMapKernel final : public Kernel {
 public:
  // input_count: without what the body captures.
  explicit SequenceMapKernel(size_t input_count) : input_count_(input_count) {}

  Status run(const RunContext& context) const override {
    const int64_t count = context.input(0).size();
    std::vector<Tensor> inputs(input_count_);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (context.input(i).type != kSequenceType) {
        inputs[i] = context.input_tensor(i);
      } else if (context.input(i).size() != count) {
        return Status(ErrorCode::kInvalidArgument,
                      fmt::format("the sequence of input {} has {} tensors, that of input 0 {}", i,
                                  context.input(i).size(), count));
      }
    }
    std::vector<Tensor> sequences(context.outputs.size());
    for (Tensor& each : sequences) each = Tensor::allocate(kSequenceType, Shape{count});
    for (int64_t item = 0; item < count; ++item) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (context.input(i).type == kSequenceType) {
          inputs[i] = items_of(context.input(i))[static_cast<size_t>(item)];
        }
      }
      std::vector<Tensor> outputs(sequences.size());
      SDX_RETURN_IF_FAILED(context.subgraphs->run("body", inputs, outputs));
      for (size_t o = 0; o < outputs.size(); ++o) {
        sequences[o].data<Tensor>()[item] = std::move(outputs[o]);
      }
    }
    for (size_t o = 0; o < sequences.size(); ++o) {
      if (context.is_wanted(o)) {
        SDX_RETURN_IF_FAILED(context.give_output(o, std::move(sequences[o])));
      }
    }
    return Status::ok();
  }

 private:
  size_t input_count_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  require_sequence(context);
  return std::make_unique<SequenceMapKernel>(context.input_count());
}

}  // namespace

extern const OpDef kSequenceMap = {.domain = "",
                                   .name = "SequenceMap",
                                   .versions = kVersions,
                                   .traits = kControlFlow | kNoFold,
                                   .infer = infer,
                                   .prepare = prepare};

}  // namespace sardonyx
