// Constant: the reader of models turns it into a constant of the graph; the kernel exists so that
// the operator is complete.
#include <fmt/format.h>

#include "ops/op.h"
#include "ops/shape/constant_value.h"
#include "ops/shape/strided_copy.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

#define SDX_CONSTANT_ATTRIBUTES                                                         \
  "sparse_value: sparse?, value: tensor?, value_float: float?, value_floats: floats?, " \
  "value_int: int?, value_ints: ints?, value_string: string?, value_strings: strings? "

constexpr OpVersion kVersions[] = {
    {1, "-> output: T | value: tensor! | T: @ieee"},
    {9, "-> output: T | value: tensor! | T: @all1"},
    {11, "-> output: T | sparse_value: sparse?, value: tensor? | T: @all1"},
    {12, "-> output: T | " SDX_CONSTANT_ATTRIBUTES "| T: @all1"},
    {13, "-> output: T | " SDX_CONSTANT_ATTRIBUTES "| T: @all13"},
    {19, "-> output: T | " SDX_CONSTANT_ATTRIBUTES "| T: @all19"},
    {21, "-> output: T | " SDX_CONSTANT_ATTRIBUTES "| T: @all21"},
    {23, "-> output: T | " SDX_CONSTANT_ATTRIBUTES "| T: @all23"},
    {24, "-> output: T | " SDX_CONSTANT_ATTRIBUTES "| T: @all24"},
    {25, "-> output: T | " SDX_CONSTANT_ATTRIBUTES "| T: @all25"},
};

void infer(InferContext& context) {
  const Tensor value = constant_value(context.node());
  context.set_output(0, value.type(), to_dims(value.shape()));
  const bool integers =
      (is_integer(value.type()) && !is_sub_byte(value.type())) || value.type() == DataType::kBool;
  if (integers && value.size() <= int64_t{kMaxTrackedInts}) {
    Dims dims;
    for (int64_t element : integer_values(value)) dims.push_back(Dim(element));
    context.set_output_ints(0, std::move(dims));
  }
}

class ConstantKernel final : public Kernel {
 public:
  explicit ConstantKernel(Tensor value) : value_(std::move(value)) {}
  Status run(const RunContext& context) const override {
    const TensorView& out = context.output(0);
    copy_contents(value_.type(), value_.raw(), out.data, value_.size());
    return Status::ok();
  }

 private:
  Tensor value_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<ConstantKernel>(constant_value(context.node));
}

}  // namespace

Tensor constant_value(const Node& node) {
  const Attributes& attributes = node.attributes;
  if (attributes.size() != 1) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: has {} attributes, expected exactly one value", describe(node),
                            attributes.size()));
  }
  const auto& [name, value] = *attributes.begin();
  if (const auto* tensor = get_held<Tensor>(value)) return *tensor;
  if (const auto* sparse = get_held<SparseTensor>(value)) return sparse->to_dense();
  const auto count = [](const auto& list) { return Shape{static_cast<int64_t>(list.size())}; };
  if (const auto* number = std::get_if<float>(&value)) {
    return Tensor::from<float>(DataType::kFloat, Shape{}, {number, 1});
  }
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return Tensor::from<int64_t>(DataType::kInt64, Shape{}, {number, 1});
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    return Tensor::from<std::string>(DataType::kString, Shape{}, {text, 1});
  }
  if (const auto* list = std::get_if<std::vector<float>>(&value)) {
    return Tensor::from<float>(DataType::kFloat, count(*list), *list);
  }
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    return Tensor::from<int64_t>(DataType::kInt64, count(*list), *list);
  }
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    return Tensor::from<std::string>(DataType::kString, count(*list), *list);
  }
  throw Error(ErrorCode::kInvalidGraph, fmt::format("{}: attribute '{}' of kind {} is no value",
                                                    describe(node), name, kind_name(value)));
}

extern const OpDef kConstant = {
    .domain = "",
    .name = "Constant",
    .versions = kVersions,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
