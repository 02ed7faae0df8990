#include "ops/index/index_tuples.h"
#include "ops/op.h"
#include "ops/shape/strided_copy.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {11, "data: T, indices: int64 -> output: T | | T: @all1"},
    {12, "data: T, indices: int64 -> output: T | batch_dims: int = 0 | T: @all1"},
    {13, "data: T, indices: int64 -> output: T | batch_dims: int = 0 | T: @all13"},
};

void infer(InferContext& context) {
  const DataType element = context.input_element(0);
  const SymShape& data = context.input_shape(0);
  const SymShape& indices = context.input_shape(1);
  if (!data || !indices) return context.set_output(0, element, std::nullopt);
  const int64_t batch_dims = context.node().attributes.get_int("batch_dims", 0);
  if (data->empty() || indices->empty()) context.fail("data and indices must have an axis");
  const auto least = static_cast<int64_t>(std::min(data->size(), indices->size()));
  if (batch_dims < 0 || batch_dims >= least) {
    context.fail(
        fmt::format("attribute 'batch_dims' is {}, expected 0 to {}", batch_dims, least - 1));
  }
  const auto batch = static_cast<size_t>(batch_dims);
  for (size_t i = 0; i < batch; ++i) {
    const Dim &a = (*data)[i], &b = (*indices)[i];
    if (a.is_known() && b.is_known() && a != b) {
      context.fail(fmt::format("batch axis {} has sizes {} and {}", i, a.value, b.value));
    }
  }
  const Dim& tuple = indices->back();
  if (!tuple.is_known()) return context.set_output(0, element, std::nullopt);
  if (tuple.value > static_cast<int64_t>(data->size() - batch)) {
    context.fail(fmt::format("tuples of {} indices for data of rank {} and {} batch axes",
                             tuple.value, data->size(), batch));
  }
  Dims output(indices->begin(), indices->end() - 1);
  for (size_t i = batch + static_cast<size_t>(tuple.value); i < data->size(); ++i) {
    output.push_back((*data)[i]);
  }
  context.set_output(0, element, std::move(output));
}

class GatherNdKernel final : public Kernel {
 public:
  explicit GatherNdKernel(size_t batch_dims) : batch_dims_(batch_dims) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto tuples = std::make_shared<IndexTuples>(
        plan_index_tuples(context.input_shape(0), context.input_shape(1), batch_dims_));
    plan.split(tuples->count, 5.0 + copy_nanoseconds(context.input_type(0)) /
                                        static_cast<double>(kCopyUnit) *
                                        static_cast<double>(tuples->slice));
    plan.state = std::move(tuples);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const auto& tuples = context.state_as<IndexTuples>();
    const Range part = context.part(tuples.count);
    for (int64_t i = part.begin; i < part.end; ++i) {
      int64_t offset = 0;
      SDX_RETURN_IF_FAILED(tuples.locate("GatherND", context.in<int64_t>(1), i, offset));
      copy_elements(context.input(0).type, context.input(0).data, offset, context.output(0).data,
                    i * tuples.slice, tuples.slice);
    }
    return Status::ok();
  }

 private:
  size_t batch_dims_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<GatherNdKernel>(
      static_cast<size_t>(context.node.attributes.get_int("batch_dims", 0)));
}

}  // namespace

extern const OpDef kGatherND = {
    .domain = "",
    .name = "GatherND",
    .versions = kVersions,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
