// If: runs one of two subgraphs. Their outputs may differ in shape, so shapes after it are known
// only while running.
#include <fmt/format.h>

#include "ops/control/subgraph.h"
#include "ops/op.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "cond: B -> outputs: V~... | else_branch: graph!, then_branch: graph! | V: @all1, B: bool"},
    {11,
     "cond: B -> outputs: V~... | else_branch: graph!, then_branch: graph! | V: @all1, B: bool"},
    {13,
     "cond: B -> outputs: V~... | else_branch: graph!, then_branch: graph! | V: @all1 @seq1, B: "
     "bool"},
    {16,
     "cond: B -> outputs: V~... | else_branch: graph!, then_branch: graph! | V: @optional15 @all13 "
     "@seq13 optional(bfloat16) optional(seq(bfloat16)), B: bool"},
    {19,
     "cond: B -> outputs: V~... | else_branch: graph!, then_branch: graph! | V: @optional15 @all19 "
     "@seq13 optional(bfloat16) optional(float8e4m3fn) optional(float8e4m3fnuz) "
     "optional(float8e5m2) optional(float8e5m2fnuz) optional(seq(bfloat16)) seq(float8e4m3fn) "
     "seq(float8e4m3fnuz) seq(float8e5m2) seq(float8e5m2fnuz), B: bool"},
    {21,
     "cond: B -> outputs: V~... | else_branch: graph!, then_branch: graph! | V: @optional15 @all21 "
     "@seq13 optional(bfloat16) optional(float8e4m3fn) optional(float8e4m3fnuz) "
     "optional(float8e5m2) optional(float8e5m2fnuz) optional(int4) optional(seq(bfloat16)) "
     "optional(uint4) seq(float8e4m3fn) seq(float8e4m3fnuz) seq(float8e5m2) seq(float8e5m2fnuz) "
     "seq(int4) seq(uint4), B: bool"},
    {23,
     "cond: B -> outputs: V~... | else_branch: graph!, then_branch: graph! | V: @optional15 @all23 "
     "@seq13 optional(bfloat16) optional(float4e2m1) optional(float8e4m3fn) "
     "optional(float8e4m3fnuz) optional(float8e5m2) optional(float8e5m2fnuz) optional(int4) "
     "optional(seq(bfloat16)) optional(uint4) seq(float4e2m1) seq(float8e4m3fn) "
     "seq(float8e4m3fnuz) seq(float8e5m2) seq(float8e5m2fnuz) seq(int4) seq(uint4), B: bool"},
    {24,
     "cond: B -> outputs: V~... | else_branch: graph!, then_branch: graph! | V: @optional15 @all24 "
     "@seq13 optional(bfloat16) optional(float4e2m1) optional(float8e4m3fn) "
     "optional(float8e4m3fnuz) optional(float8e5m2) optional(float8e5m2fnuz) optional(float8e8m0) "
     "optional(int4) optional(seq(bfloat16)) optional(uint4) seq(float4e2m1) seq(float8e4m3fn) "
     "seq(float8e4m3fnuz) seq(float8e5m2) seq(float8e5m2fnuz) seq(float8e8m0) seq(int4) "
     "seq(uint4), B: bool"},
    {25,
     "cond: B -> outputs: V~... | else_branch: graph!, then_branch: graph! | V: @optional15 @all25 "
     "@seq13 optional(bfloat16) optional(float4e2m1) optional(float8e4m3fn) "
     "optional(float8e4m3fnuz) optional(float8e5m2) optional(float8e5m2fnuz) optional(float8e8m0) "
     "optional(int2) optional(int4) optional(seq(bfloat16)) optional(uint2) optional(uint4) "
     "seq(float4e2m1) seq(float8e4m3fn) seq(float8e4m3fnuz) seq(float8e5m2) seq(float8e5m2fnuz) "
     "seq(float8e8m0) seq(int2) seq(int4) seq(uint2) seq(uint4), B: bool"},
};

void infer(InferContext& context) {
  const Graph* then_branch = subgraph_of(context.node(), "then_branch");
  const Graph* else_branch = subgraph_of(context.node(), "else_branch");
  if (then_branch == nullptr || else_branch == nullptr) return;
  const std::vector<ValueType> a = context.infer_subgraph(*then_branch, {});
  const std::vector<ValueType> b = context.infer_subgraph(*else_branch, {});
  if (a.size() != context.output_count() || b.size() != context.output_count()) {
    context.fail("the branches have " + std::to_string(a.size()) + " and " +
                 std::to_string(b.size()) + " outputs, the node has " +
                 std::to_string(context.output_count()));
  }
  for (size_t i = 0; i < a.size(); ++i) {
    require_one_type(context, fmt::format("output {} of the branches", i), a[i], b[i]);
    context.set_output(i, either(a[i], b[i]));
  }
}

class IfKernel final : public Kernel {
 public:
  Status run(const RunContext& context) const override {
    if (context.input(0).size() != 1) {
      return Status(ErrorCode::kInvalidArgument, "the condition has " +
                                                     std::to_string(context.input(0).size()) +
                                                     " elements, expected one");
    }
    std::vector<Tensor> outputs(context.outputs.size());
    SDX_RETURN_IF_FAILED(context.subgraphs->run(
        context.in<bool>(0)[0] ? "then_branch" : "else_branch", {}, outputs));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (context.is_wanted(i)) SDX_RETURN_IF_FAILED(context.give_output(i, std::move(outputs[i])));
    }
    return Status::ok();
  }
};

std::unique_ptr<Kernel> prepare(const PrepareContext&) { return std::make_unique<IfKernel>(); }

}  // namespace

extern const OpDef kIf = {.domain = "",
                          .name = "If",
                          .versions = kVersions,
                          .traits = kControlFlow | kNoFold,
                          .infer = infer,
                          .prepare = prepare};

}  // namespace sardonyx
