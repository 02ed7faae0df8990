#include "ops/index/combine.h"
#include "ops/index/index_tuples.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {11, "data: T, indices: int64, updates: T -> output: T | | T: @all1"},
    {13, "data: T, indices: int64, updates: T -> output: T | | T: @all13"},
    {16,
     "data: T, indices: int64, updates: T -> output: T | reduction: string = 'none' | T: @all13"},
    {18,
     "data: T, indices: int64, updates: T -> output: T | reduction: string = 'none' | T: @all13"},
};

void infer(InferContext& context) {
  check_reduction(context);
  context.same_as_input(0);
  const SymShape& data = context.input_shape(0);
  const SymShape& indices = context.input_shape(1);
  const SymShape& updates = context.input_shape(2);
  if (!data || !indices) return;
  if (data->empty() || indices->empty()) context.fail("data and indices must have an axis");
  const Dim& tuple = indices->back();
  if (!tuple.is_known()) return;
  if (tuple.value > static_cast<int64_t>(data->size())) {
    context.fail(
        fmt::format("tuples of {} indices for data of rank {}", tuple.value, data->size()));
  }
  if (!updates) return;
  Dims expected(indices->begin(), indices->end() - 1);
  for (size_t i = static_cast<size_t>(tuple.value); i < data->size(); ++i) {
    expected.push_back((*data)[i]);
  }
  bool same = expected.size() == updates->size();
  for (size_t i = 0; same && i < expected.size(); ++i) {
    const Dim &a = expected[i], &b = (*updates)[i];
    same = !a.is_known() || !b.is_known() || a == b;
  }
  if (!same) context.fail("the shape of the updates does not match the indices and the data");
}

class ScatterNdKernel final : public ScatterKernel {
 public:
  explicit ScatterNdKernel(const PrepareContext& context) : ScatterKernel(context) {}

 protected:
  std::shared_ptr<const void> plan_scatter(const ResolveContext& context) const override {
    return std::make_shared<IndexTuples>(
        plan_index_tuples(context.input_shape(0), context.input_shape(1), 0));
  }
  Status scatter(const RunContext& context) const override {
    const auto& tuples = context.state_as<IndexTuples>();
    const int64_t width = *storage_bytes(context.output(0).type, 1);
    for (int64_t i = 0; i < tuples.count; ++i) {
      int64_t offset = 0;
      SDX_RETURN_IF_FAILED(tuples.locate("ScatterND", context.in<int64_t>(1), i, offset));
      combine_(context.in<char>(2) + i * tuples.slice * width,
               context.out<char>(0) + offset * width, tuples.slice);
    }
    return Status::ok();
  }
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<ScatterNdKernel>(context);
}

}  // namespace

extern const OpDef kScatterND = {
    .domain = "",
    .name = "ScatterND",
    .versions = kVersions,
    .in_place = 0b1,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
