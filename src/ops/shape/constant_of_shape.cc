#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ops/op.h"
#include "ops/shape/strided_copy.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {9, "input: T1 -> output: T2 | value: tensor? | T1: int64, T2: @numeric bool"},
    {20, "input: T1 -> output: T2 | value: tensor? | T1: int64, T2: @numeric13 @float8 bool"},
    {21,
     "input: T1 -> output: T2 | value: tensor? | T1: int64, T2: @numeric13 @float8 bool int4 "
     "uint4"},
    {23,
     "input: T1 -> output: T2 | value: tensor? | T1: int64, T2: @numeric13 @float8 bool float4e2m1 "
     "int4 uint4"},
    {24,
     "input: T1 -> output: T2 | value: tensor? | T1: int64, T2: @numeric13 @float8 bool float4e2m1 "
     "float8e8m0 int4 uint4"},
    {25,
     "input: T1 -> output: T2 | value: tensor? | T1: int64, T2: @numeric13 @float8 bool float4e2m1 "
     "float8e8m0 int2 int4 uint2 uint4"},
};

const Tensor* value_of(const Node& node) {
  const AttributeValue* value = node.attributes.find("value");
  return value != nullptr ? get_held<Tensor>(*value) : nullptr;
}

void infer(InferContext& context) {
  const Tensor* value = value_of(context.node());
  if (value != nullptr && value->size() != 1) {
    context.fail(fmt::format("attribute 'value' has {} elements, expected 1", value->size()));
  }
  const DataType element = value != nullptr ? value->type() : DataType::kFloat;
  std::optional<Dims> shape = context.input_ints(0);
  if (!shape) return context.set_output(0, element, std::nullopt);
  for (size_t i = 0; i < shape->size(); ++i) {
    if ((*shape)[i].is_known() && (*shape)[i].value < 0) {
      context.fail(fmt::format("entry {} of the shape is {}", i, (*shape)[i].value));
    }
  }
  const bool tracked = value != nullptr && is_integer(element) && !is_sub_byte(element);
  if (const std::optional<Shape> known = to_shape(*shape); known && tracked) {
    const std::optional<int64_t> count = checked_element_count(*known);
    if (count && *count <= int64_t{kMaxTrackedInts}) {
      context.set_output_ints(0, Dims(static_cast<size_t>(*count), Dim(integer_values(*value)[0])));
    }
  }
  context.set_output(0, element, std::move(shape));
}

class FillKernel final : public Kernel {
 public:
  explicit FillKernel(const Tensor* value) : value_(value != nullptr ? *value : Tensor()) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const DataType type = context.output_type(0);
    const int64_t count = element_count(context.output_shape(0));
    plan.split(copy_units(is_sub_byte(type) ? *storage_bytes(type, count) : count), 400.0);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const TensorView& out = context.output(0);
    if (is_sub_byte(out.type)) {
      fill_packed(context, out);
      return Status::ok();
    }
    const Range part = copy_part(context, out.size());
    visit_width(out.type, [&]<typename T>(TypeTag<T>) {
      const T value = value_.is_defined() ? value_.data<T>()[0] : T();
      std::fill(out.as<T>() + part.begin, out.as<T>() + part.end, value);
    });
    return Status::ok();
  }

 private:
  void fill_packed(const RunContext& context, const TensorView& out) const {
    const int bits = bits_of(out.type);
    const uint8_t code = load_code(value_.data<uint8_t>(), 0, bits);
    int byte = 0;
    for (int shift = 0; shift < 8; shift += bits) byte |= code << shift;
    const int64_t bytes = out.size_bytes();
    const Range part = copy_part(context, bytes);
    std::fill(out.as<uint8_t>() + part.begin, out.as<uint8_t>() + part.end,
              static_cast<uint8_t>(byte));
    // Unused bits of the last byte are zero.
    if (part.end == bytes && part.begin < part.end) {
      const int64_t used = (out.size() - (bytes - 1) * (8 / bits)) * bits;
      out.as<uint8_t>()[bytes - 1] &= static_cast<uint8_t>((1 << used) - 1);
    }
  }
  Tensor value_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<FillKernel>(value_of(context.node));
}

}  // namespace

extern const OpDef kConstantOfShape = {
    .domain = "",
    .name = "ConstantOfShape",
    .versions = kVersions,
    .value_inputs = 0b1,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
