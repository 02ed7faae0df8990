// ScatterElements, and Scatter, as it was called first.
#include "ops/index/combine.h"
#include "ops/index/element_walk.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {11,
     "data: T, indices: Tind, updates: T -> output: T | axis: int = 0 | T: @all1, Tind: int32 "
     "int64"},
    {13,
     "data: T, indices: Tind, updates: T -> output: T | axis: int = 0 | T: @all13, Tind: int32 "
     "int64"},
    {16,
     "data: T, indices: Tind, updates: T -> output: T | axis: int = 0, reduction: string = 'none' "
     "| T: @all13, Tind: int32 int64"},
    {18,
     "data: T, indices: Tind, updates: T -> output: T | axis: int = 0, reduction: string = 'none' "
     "| T: @all13, Tind: int32 int64"},
};
constexpr OpVersion kScatterVersions[] = {
    {9,
     "data: T, indices: Tind, updates: T -> output: T | axis: int = 0 | T: @all1, Tind: int32 "
     "int64"},
    {11,
     "data: T, indices: Tind, updates: T -> output: T | axis: int = 0 | T: @all1, Tind: int32 "
     "int64"},
};

void infer(InferContext& context) {
  check_reduction(context);
  check_element_indices(context);
  const SymShape& indices = context.input_shape(1);
  const SymShape& updates = context.input_shape(2);
  if (indices && updates) {
    bool same = indices->size() == updates->size();
    for (size_t i = 0; same && i < indices->size(); ++i) {
      const Dim &a = (*indices)[i], &b = (*updates)[i];
      same = !a.is_known() || !b.is_known() || a == b;
    }
    if (!same) context.fail("the shapes of indices and updates differ");
  }
  context.same_as_input(0);
}

class ScatterElementsKernel final : public ScatterKernel {
 public:
  explicit ScatterElementsKernel(const PrepareContext& context)
      : ScatterKernel(context), axis_(context.node.attributes.get_int("axis", 0)) {}

 protected:
  std::shared_ptr<const void> plan_scatter(const ResolveContext& context) const override {
    return std::make_shared<ElementWalk>(
        plan_element_walk(context.input_shape(0), context.input_shape(1), axis_));
  }
  Status scatter(const RunContext& context) const override {
    const auto& walk = context.state_as<ElementWalk>();
    const TensorView& indices = context.input(1);
    const char* updates = context.in<char>(2);
    char* out = context.out<char>(0);
    const int64_t width = *storage_bytes(context.output(0).type, 1);
    return walk.run({0, walk.count}, [&](int64_t i, int64_t offset) {
      int64_t index = index_at(indices, i);
      if (!wrap_index(index, walk.axis_size)) {
        return index_outside("ScatterElements", index, walk.axis_size);
      }
      combine_(updates + i * width, out + (offset + index * walk.axis_stride) * width, 1);
      return Status::ok();
    });
  }

 private:
  int64_t axis_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<ScatterElementsKernel>(context);
}

}  // namespace

extern const OpDef kScatter = {
    .domain = "",
    .name = "Scatter",
    .versions = kScatterVersions,
    .in_place = 0b1,
    .infer = infer,
    .prepare = prepare,
};
extern const OpDef kScatterElements = {
    .domain = "",
    .name = "ScatterElements",
    .versions = kVersions,
    .in_place = 0b1,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
