// Optional, OptionalHasElement and OptionalGetElement. From version 18 on the last two also take a
// tensor or a sequence, which is an optional that holds it.
#include <fmt/format.h>

#include "ops/op.h"
#include "ops/sequence/sequence.h"
#include "ops/shape/strided_copy.h"

namespace sardonyx {
namespace {

constexpr OpVersion kOptionalVersions[] = {
    {15, "input: V? -> output: O | type: type? | V: @all1 @seq1, O: @optional15"},
    {28,
     "input: V? -> output: O | type: type? | V: @all28 @seq13 seq(float4e2m1) seq(float6e2m3) "
     "seq(float6e3m2) seq(float8e4m3fn) seq(float8e4m3fnuz) seq(float8e5m2) seq(float8e5m2fnuz) "
     "seq(float8e8m0) seq(int2) seq(int4) seq(uint2) seq(uint4), O: @optional15 optional(bfloat16) "
     "optional(float4e2m1) optional(float6e2m3) optional(float6e3m2) optional(float8e4m3fn) "
     "optional(float8e4m3fnuz) optional(float8e5m2) optional(float8e5m2fnuz) optional(float8e8m0) "
     "optional(int2) optional(int4) optional(seq(bfloat16)) optional(seq(float4e2m1)) "
     "optional(seq(float6e2m3)) optional(seq(float6e3m2)) optional(seq(float8e4m3fn)) "
     "optional(seq(float8e4m3fnuz)) optional(seq(float8e5m2)) optional(seq(float8e5m2fnuz)) "
     "optional(seq(float8e8m0)) optional(seq(int2)) optional(seq(int4)) optional(seq(uint2)) "
     "optional(seq(uint4)) optional(uint2) optional(uint4)"},
};
constexpr OpVersion kHasElementVersions[] = {
    {15, "input: O -> output: B | | O: @optional15, B: bool"},
    {18, "input: O? -> output: B | | O: @optional15 @all1 @seq1, B: bool"},
    {28,
     "input: O? -> output: B | | O: @optional15 @all28 @seq13 optional(bfloat16) "
     "optional(float4e2m1) optional(float6e2m3) optional(float6e3m2) optional(float8e4m3fn) "
     "optional(float8e4m3fnuz) optional(float8e5m2) optional(float8e5m2fnuz) optional(float8e8m0) "
     "optional(int2) optional(int4) optional(seq(bfloat16)) optional(seq(float4e2m1)) "
     "optional(seq(float6e2m3)) optional(seq(float6e3m2)) optional(seq(float8e4m3fn)) "
     "optional(seq(float8e4m3fnuz)) optional(seq(float8e5m2)) optional(seq(float8e5m2fnuz)) "
     "optional(seq(float8e8m0)) optional(seq(int2)) optional(seq(int4)) optional(seq(uint2)) "
     "optional(seq(uint4)) optional(uint2) optional(uint4) seq(float4e2m1) seq(float6e2m3) "
     "seq(float6e3m2) seq(float8e4m3fn) seq(float8e4m3fnuz) seq(float8e5m2) seq(float8e5m2fnuz) "
     "seq(float8e8m0) seq(int2) seq(int4) seq(uint2) seq(uint4), B: bool"},
};
constexpr OpVersion kGetElementVersions[] = {
    {15, "input: O -> output: V | | O: @optional15, V: @all1 @seq1"},
    {18, "input: O -> output: V | | O: @optional15 @all1 @seq1, V: @all1 @seq1"},
    {28,
     "input: O -> output: V | | O: @optional15 @all28 @seq13 optional(bfloat16) "
     "optional(float4e2m1) optional(float6e2m3) optional(float6e3m2) optional(float8e4m3fn) "
     "optional(float8e4m3fnuz) optional(float8e5m2) optional(float8e5m2fnuz) optional(float8e8m0) "
     "optional(int2) optional(int4) optional(seq(bfloat16)) optional(seq(float4e2m1)) "
     "optional(seq(float6e2m3)) optional(seq(float6e3m2)) optional(seq(float8e4m3fn)) "
     "optional(seq(float8e4m3fnuz)) optional(seq(float8e5m2)) optional(seq(float8e5m2fnuz)) "
     "optional(seq(float8e8m0)) optional(seq(int2)) optional(seq(int4)) optional(seq(uint2)) "
     "optional(seq(uint4)) optional(uint2) optional(uint4) seq(float4e2m1) seq(float6e2m3) "
     "seq(float6e3m2) seq(float8e4m3fn) seq(float8e4m3fnuz) seq(float8e5m2) seq(float8e5m2fnuz) "
     "seq(float8e8m0) seq(int2) seq(int4) seq(uint2) seq(uint4), V: @all28 @seq13 seq(float4e2m1) "
     "seq(float6e2m3) seq(float6e3m2) seq(float8e4m3fn) seq(float8e4m3fnuz) seq(float8e5m2) "
     "seq(float8e5m2fnuz) seq(float8e8m0) seq(int2) seq(int4) seq(uint2) seq(uint4)"},
};

void infer_optional(InferContext& context) {
  const AttributeValue* attribute = context.node().attributes.find("type");
  const auto* declared = attribute == nullptr ? nullptr : get_held<ValueType>(*attribute);
  if (!context.has_input(0)) {
    if (declared == nullptr || !(declared->is_tensor() || declared->holds_values())) {
      context.fail("without an input, 'type' must say what the optional could hold");
    }
    return context.set_output(0, ValueType::optional(*declared));
  }
  const ValueType& input = context.input_type(0);
  if (declared != nullptr && input.kind != ValueType::Kind::kUnknown &&
      type_string(*declared) != type_string(input)) {
    context.fail(
        fmt::format("'type' is {}, the input is {}", type_string(*declared), type_string(input)));
  }
  context.set_output(0, ValueType::optional(input));
}

class OptionalKernel final : public Kernel {
 public:
  Status run(const RunContext& context) const override {
    std::vector<Tensor> held;
    if (context.has_input(0)) held.push_back(keep(context.input_tensor(0)));
    return context.give_output(0, tensor_of_values(kOptionalType, held));
  }
};

// Of an optional.
class HasElementKernel final : public Kernel {
 public:
  Status run(const RunContext& context) const override {
    const bool has = context.input(0).type != kOptionalType || context.input(0).size() != 0;
    return context.give_output(0, Tensor::from<bool>(DataType::kBool, {}, {&has, 1}));
  }
};

// Of a tensor, or of no input.
class IsGivenKernel final : public Kernel {
 public:
  Status run(const RunContext& context) const override {
    context.out<bool>(0)[0] = context.has_input(0);
    return Status::ok();
  }
};

void infer_get_element(InferContext& context) {
  const ValueType& input = context.input_type(0);
  const bool is_optional = input.kind == ValueType::Kind::kOptional;
  context.set_output(0, is_optional ? item_type(input) : input);
}

// Of an optional or a sequence.
class GetElementKernel final : public Kernel {
 public:
  Status run(const RunContext& context) const override {
    const TensorView& input = context.input(0);
    const std::span<const Tensor> items = items_of(input);
    if (input.type == kSequenceType) return context.give_output(0, keep(context.input_tensor(0)));
    if (items.empty()) {
      return Status(ErrorCode::kInvalidArgument,
                    "the optional holds nothing; ask OptionalHasElement first");
    }
    return context.give_output(0, items[0]);
  }
};

std::unique_ptr<Kernel> prepare_optional(const PrepareContext&) {
  return std::make_unique<OptionalKernel>();
}

bool takes_values(const PrepareContext& context) {
  return context.has_input(0) && context.input_types[0]->holds_values();
}

std::unique_ptr<Kernel> prepare_has_element(const PrepareContext& context) {
  if (takes_values(context)) return std::make_unique<HasElementKernel>();
  return std::make_unique<IsGivenKernel>();
}

std::unique_ptr<Kernel> prepare_get_element(const PrepareContext& context) {
  if (takes_values(context)) return std::make_unique<GetElementKernel>();
  if (!context.has_input(0) || !context.input_types[0]->is_tensor()) {
    context.unsupported("optionals, sequences and tensors");
  }
  return make_copy_kernel();
}

}  // namespace

extern const OpDef kOptional = {.domain = "",
                                .name = "Optional",
                                .versions = kOptionalVersions,
                                .traits = kNoFold,
                                .infer = infer_optional,
                                .prepare = prepare_optional};

extern const OpDef kOptionalHasElement = {
    .domain = "",
    .name = "OptionalHasElement",
    .versions = kHasElementVersions,
    .traits = kShapeOnly,
    .infer = [](InferContext& context) { context.set_output(0, DataType::kBool, Dims{}); },
    .prepare = prepare_has_element};

extern const OpDef kOptionalGetElement = {.domain = "",
                                          .name = "OptionalGetElement",
                                          .versions = kGetElementVersions,
                                          .infer = infer_get_element,
                                          .prepare = prepare_get_element};

}  // namespace sardonyx
