#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernels/transpose/transpose.h"
#include "ops/op.h"
#include "ops/shape/strided_copy.h"
#include "tensor/numeric.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "data: T -> transposed: T | perm: ints? | T: @all1"},
    {13, "data: T -> transposed: T | perm: ints? | T: @all13"},
    {21, "data: T -> transposed: T | perm: ints? | T: @all21"},
    {23, "data: T -> transposed: T | perm: ints? | T: @all23"},
    {24, "data: T -> transposed: T | perm: ints? | T: @all24"},
    {25, "data: T -> transposed: T | perm: ints? | T: @all25"},
};

using Permutation = SmallVector<size_t, 6>;

// Output axis i is input axis permutation[i]; nullopt when `perm` is not one of `rank` axes.
std::optional<Permutation> permutation_of(const Node& node, size_t rank) {
  const std::vector<int64_t> perm = node.attributes.get_ints("perm");
  Permutation result;
  if (perm.empty()) {
    for (size_t i = rank; i-- > 0;) result.push_back(i);
    return result;
  }
  for (int64_t axis : perm) {
    if (axis < 0) axis += static_cast<int64_t>(rank);
    const auto index = static_cast<size_t>(axis);
    if (axis < 0 || index >= rank) return std::nullopt;
    if (std::find(result.begin(), result.end(), index) != result.end()) return std::nullopt;
    result.push_back(index);
  }
  if (result.size() != rank) return std::nullopt;
  return result;
}

void infer(InferContext& context) {
  const SymShape& input = context.input_shape(0);
  if (!input) return context.set_output(0, context.input_element(0), std::nullopt);
  const std::optional<Permutation> permutation = permutation_of(context.node(), input->size());
  if (!permutation) {
    context.fail(fmt::format("perm [{}] is not a permutation of {} axes",
                             fmt::join(context.node().attributes.get_ints("perm"), ","),
                             input->size()));
  }
  Dims output;
  for (size_t axis : *permutation) output.push_back((*input)[axis]);
  if (input->size() <= 1) {
    if (auto ints = context.input_ints(0)) context.set_output_ints(0, *ints);
  }
  context.set_output(0, context.input_element(0), std::move(output));
}

StridedCopy plan_transpose(const ResolveContext& context) {
  const Shape& input = context.input_shape(0);
  const SmallVector<int64_t, 6> own = row_major_strides(input);
  const std::optional<Permutation> permutation = permutation_of(context.node(), input.size());
  SmallVector<int64_t, 6> strides;
  for (size_t axis : *permutation) strides.push_back(own[axis]);
  return plan_strided_copy(context.output_shape(0), strides);
}

// Elements of 1 to 16 bytes, by the kernel library.
class TransposeKernel final : public Kernel {
 public:
  explicit TransposeKernel(Isa isa) : kernels_(kernels::transpose_kernels(isa)) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& input = context.input_shape(0);
    const std::optional<Permutation> permutation = permutation_of(context.node(), input.size());
    const SmallVector<int64_t, 6> perm(permutation->begin(), permutation->end());
    auto transpose = std::make_shared<kernels::TransposePlan>();
    if (!kernels::make_transpose_plan(input, perm, bits_of(context.input_type(0)) / 8,
                                      transpose.get())) {
      return Status(ErrorCode::kNotImplemented,
                    fmt::format("Transpose of more than {} axes", kernels::kMaxTransposeRank));
    }
    const double elements = static_cast<double>(element_count(input));
    const double cost =
        elements / static_cast<double>(kCopyUnit) * copy_nanoseconds(context.input_type(0));
    plan.split(transpose->units,
               cost / static_cast<double>(std::max<int64_t>(1, transpose->units)));
    plan.state = std::move(transpose);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const auto& plan = context.state_as<kernels::TransposePlan>();
    const Range part = context.part(plan.units);
    kernels_.run(plan, context.input(0).data, context.output(0).data, part.begin, part.end);
    return Status::ok();
  }

 private:
  const kernels::TransposeKernels& kernels_;
};

class StringTransposeKernel final : public StridedCopyKernel {
 protected:
  Status plan_copy(const ResolveContext& context, StridedCopy& copy) const override {
    copy = plan_transpose(context);
    return Status::ok();
  }
};

// 4- and 2-bit elements: unpacked to one byte each, moved, packed again; on one thread.
class SubByteTransposeKernel final : public Kernel {
 public:
  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto copy = std::make_shared<StridedCopy>(plan_transpose(context));
    plan.scratch_bytes = 2 * copy->elements;
    plan.state = std::move(copy);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const auto& copy = context.state_as<StridedCopy>();
    const int bits = bits_of(context.input(0).type);
    auto* before = reinterpret_cast<uint8_t*>(context.scratch);
    uint8_t* after = before + copy.elements;
    unpack_codes(context.in<uint8_t>(0), 0, copy.elements, bits, before);
    copy.run(DataType::kUint8, before, after, {0, copy.elements});
    pack_codes(after, 0, copy.elements, bits, context.out<uint8_t>(0));
    return Status::ok();
  }
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  if (is_sub_byte(context.input_element(0))) return std::make_unique<SubByteTransposeKernel>();
  if (context.input_element(0) == DataType::kString) {
    return std::make_unique<StringTransposeKernel>();
  }
  return std::make_unique<TransposeKernel>(context.isa);
}

}  // namespace

extern const OpDef kTranspose = {
    .domain = "",
    .name = "Transpose",
    .versions = kVersions,
    .traits = kZeroPreserving,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
