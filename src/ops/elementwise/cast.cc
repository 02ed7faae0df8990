#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "ops/elementwise/convert.h"
#include "ops/elementwise/loop.h"
#include "ops/op.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "input: T1 -> output: T2 | to: string! | T1: @numeric bool, T2: @numeric bool"},
    {6, "input: T1 -> output: T2 | to: int! | T1: @numeric bool, T2: @numeric bool"},
    {9, "input: T1 -> output: T2 | to: int! | T1: @numeric bool string, T2: @numeric bool string"},
    {13, "input: T1 -> output: T2 | to: int! | T1: @cast13, T2: @cast13"},
    {19, "input: T1 -> output: T2 | saturate: int = 1, to: int! | T1: @cast19, T2: @cast19"},
    {21, "input: T1 -> output: T2 | saturate: int = 1, to: int! | T1: @cast21, T2: @cast21"},
    {23, "input: T1 -> output: T2 | saturate: int = 1, to: int! | T1: @cast23, T2: @cast23"},
    {24,
     "input: T1 -> output: T2 | round_mode: string = 'up', saturate: int = 1, to: int! | T1: "
     "@cast24, T2: @cast24"},
    {25,
     "input: T1 -> output: T2 | round_mode: string = 'up', saturate: int = 1, to: int! | T1: "
     "@cast25, T2: @cast25"},
    {28,
     "input: T1 -> output: T2 | round_mode: string = 'up', saturate: int = 1, to: int! | T1: "
     "@cast28, T2: @cast28"},
};

constexpr OpVersion kLikeVersions[] = {
    {15, "input: T1, target_type: T2 -> output: T2 | | T1: @cast13, T2: @cast13"},
    {19, "input: T1, target_type: T2 -> output: T2 | saturate: int = 1 | T1: @cast19, T2: @cast19"},
    {21, "input: T1, target_type: T2 -> output: T2 | saturate: int = 1 | T1: @cast21, T2: @cast21"},
    {23, "input: T1, target_type: T2 -> output: T2 | saturate: int = 1 | T1: @cast23, T2: @cast23"},
    {24,
     "input: T1, target_type: T2 -> output: T2 | round_mode: string = 'up', saturate: int = 1 | "
     "T1: @cast24, T2: @cast24"},
    {25,
     "input: T1, target_type: T2 -> output: T2 | round_mode: string = 'up', saturate: int = 1 | "
     "T1: @cast25, T2: @cast25"},
};

std::optional<DataType> target_of(const Node& node) {
  if (node.version == 1) {
    std::string name = node.attributes.get_string("to", "");
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return parse_data_type(name);
  }
  const int64_t number = node.attributes.get_int("to", 0);
  if (!is_data_type(number)) return std::nullopt;
  return static_cast<DataType>(number);
}

std::optional<E8M0Rounding> rounding_of(const Node& node) {
  const std::string mode = node.attributes.get_string("round_mode", "up");
  if (mode == "up") return E8M0Rounding::kUp;
  if (mode == "down") return E8M0Rounding::kDown;
  if (mode == "nearest") return E8M0Rounding::kNearest;
  return std::nullopt;
}

void infer_to(InferContext& context, DataType target) {
  if (!rounding_of(context.node())) {
    context.fail("attribute 'round_mode' must be 'up', 'down' or 'nearest'");
  }
  context.set_output(0, target, context.input_shape(0));
  // Sizes survive every cast between the wide integers; a bool only tells 0 from the rest.
  const bool wide = target == DataType::kInt64 || target == DataType::kInt32;
  std::optional<Dims> ints = context.input_ints(0);
  if (!ints || !wide) return;
  if (target == DataType::kInt32) {
    for (Dim& dim : *ints) {
      if (dim.is_known()) dim = Dim(static_cast<int32_t>(dim.value));
    }
  }
  if (is_integer(context.input_element(0)) || context.input_element(0) == DataType::kBool) {
    context.set_output_ints(0, std::move(*ints));
  }
}

void infer(InferContext& context) {
  const std::optional<DataType> target = target_of(context.node());
  if (!target) context.fail("attribute 'to' is not the number of an element type");
  if (!is_convertible(*target)) {
    context.fail(
        fmt::format("attribute 'to' is {}, which nothing can be cast to", name_of(*target)));
  }
  infer_to(context, *target);
}
void infer_like(InferContext& context) { infer_to(context, context.input_element(1)); }

class CastKernel final : public Kernel {
 public:
  explicit CastKernel(const Node& node)
      : options_{node.attributes.get_int("saturate", 1) != 0,
                 rounding_of(node).value_or(E8M0Rounding::kUp)} {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const bool text =
        context.input_type(0) == DataType::kString || context.output_type(0) == DataType::kString;
    plan.split(loop_units(element_count(context.input_shape(0))), (text ? 60.0 : 1.5) * kLoopUnit);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const TensorView& in = context.input(0);
    const TensorView& out = context.output(0);
    const Range part = loop_part(context, in.size());
    if (part.begin >= part.end) return Status::ok();
    return convert_elements(in.type, in.data, out.type, out.data, part.begin, part.end - part.begin,
                            options_);
  }

 private:
  ConvertOptions options_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  if (!is_convertible(context.input_element(0))) context.unsupported("all but complex numbers");
  return std::make_unique<CastKernel>(context.node);
}

}  // namespace

extern const OpDef kCast = {
    .domain = "",
    .name = "Cast",
    .versions = kVersions,
    .traits = kElementwise,
    .in_place = 0b1,
    .infer = infer,
    .prepare = prepare,
};
extern const OpDef kCastLike = {
    .domain = "",
    .name = "CastLike",
    .versions = kLikeVersions,
    .in_place = 0b1,
    .infer = infer_like,
    .prepare = prepare,
};

}  // namespace sardonyx
