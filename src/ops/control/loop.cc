// Loop: runs its body up to M times while the condition holds, carrying values from one trip to the
// next and stacking the others along a new first axis.
#include "ops/control/subgraph.h"
#include "ops/op.h"
#include "ops/shape/axis_parts.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1,
     "M: I?, cond: B?, v_initial: V~... -> v_final_and_scan_outputs: V~... | body: graph! | V: "
     "@all1, I: int64, B: bool"},
    {11,
     "M: I?, cond: B?, v_initial: V~...0 -> v_final_and_scan_outputs: V~... | body: graph! | V: "
     "@all1, I: int64, B: bool"},
    {13,
     "M: I?, cond: B?, v_initial: V~...0 -> v_final_and_scan_outputs: V~... | body: graph! | V: "
     "@all1 @seq1, I: int64, B: bool"},
    {16,
     "M: I?, cond: B?, v_initial: V~...0 -> v_final_and_scan_outputs: V~... | body: graph! | V: "
     "@optional15 @all13 @seq13 optional(bfloat16) optional(seq(bfloat16)), I: int64, B: bool"},
    {19,
     "M: I?, cond: B?, v_initial: V~...0 -> v_final_and_scan_outputs: V~... | body: graph! | V: "
     "@optional15 @all19 @seq13 optional(bfloat16) optional(float8e4m3fn) optional(float8e4m3fnuz) "
     "optional(float8e5m2) optional(float8e5m2fnuz) optional(seq(bfloat16)) seq(float8e4m3fn) "
     "seq(float8e4m3fnuz) seq(float8e5m2) seq(float8e5m2fnuz), I: int64, B: bool"},
    {21,
     "M: I?, cond: B?, v_initial: V~...0 -> v_final_and_scan_outputs: V~... | body: graph! | V: "
     "@optional15 @all21 @seq13 optional(bfloat16) optional(float8e4m3fn) optional(float8e4m3fnuz) "
     "optional(float8e5m2) optional(float8e5m2fnuz) optional(int4) optional(seq(bfloat16)) "
     "optional(uint4) seq(float8e4m3fn) seq(float8e4m3fnuz) seq(float8e5m2) seq(float8e5m2fnuz) "
     "seq(int4) seq(uint4), I: int64, B: bool"},
    {23,
     "M: I?, cond: B?, v_initial: V~...0 -> v_final_and_scan_outputs: V~... | body: graph! | V: "
     "@optional15 @all23 @seq13 optional(bfloat16) optional(float4e2m1) optional(float8e4m3fn) "
     "optional(float8e4m3fnuz) optional(float8e5m2) optional(float8e5m2fnuz) optional(int4) "
     "optional(seq(bfloat16)) optional(uint4) seq(float4e2m1) seq(float8e4m3fn) "
     "seq(float8e4m3fnuz) seq(float8e5m2) seq(float8e5m2fnuz) seq(int4) seq(uint4), I: int64, B: "
     "bool"},
    {24,
     "M: I?, cond: B?, v_initial: V~...0 -> v_final_and_scan_outputs: V~... | body: graph! | V: "
     "@optional15 @all24 @seq13 optional(bfloat16) optional(float4e2m1) optional(float8e4m3fn) "
     "optional(float8e4m3fnuz) optional(float8e5m2) optional(float8e5m2fnuz) optional(float8e8m0) "
     "optional(int4) optional(seq(bfloat16)) optional(uint4) seq(float4e2m1) seq(float8e4m3fn) "
     "seq(float8e4m3fnuz) seq(float8e5m2) seq(float8e5m2fnuz) seq(float8e8m0) seq(int4) "
     "seq(uint4), I: int64, B: bool"},
    {25,
     "M: I?, cond: B?, v_initial: V~...0 -> v_final_and_scan_outputs: V~... | body: graph! | V: "
     "@optional15 @all25 @seq13 optional(bfloat16) optional(float4e2m1) optional(float8e4m3fn) "
     "optional(float8e4m3fnuz) optional(float8e5m2) optional(float8e5m2fnuz) optional(float8e8m0) "
     "optional(int2) optional(int4) optional(seq(bfloat16)) optional(uint2) optional(uint4) "
     "seq(float4e2m1) seq(float8e4m3fn) seq(float8e4m3fnuz) seq(float8e5m2) seq(float8e5m2fnuz) "
     "seq(float8e8m0) seq(int2) seq(int4) seq(uint2) seq(uint4), I: int64, B: bool"},
};

// Outputs of the node before the stacked ones: one per carried value, which start at input 2.
size_t carried_count(size_t input_count) { return input_count > 2 ? input_count - 2 : 0; }

void infer(InferContext& context) {
  const Graph* body = subgraph_of(context.node(), "body");
  if (body == nullptr) return;
  const size_t carried = carried_count(context.input_count());
  std::vector<ValueType> inputs = {ValueType::tensor(DataType::kInt64, Dims{}),
                                   ValueType::tensor(DataType::kBool, Dims{})};
  for (size_t i = 0; i < carried; ++i) {
    // A carried value keeps its type; its shape may change from trip to trip.
    if (!context.has_input(2 + i))
      context.fail("carried value " + std::to_string(i) + " is absent");
    inputs.push_back(context.input_type(2 + i).without_shapes());
  }
  if (body->inputs().size() != inputs.size()) {
    context.fail("the body has " + std::to_string(body->inputs().size()) + " inputs, expected " +
                 std::to_string(inputs.size()) + " (trip, condition and the carried values)");
  }
  const std::vector<ValueType> results = context.infer_subgraph(*body, inputs);
  if (results.size() != context.output_count() + 1) {
    context.fail("the body has " + std::to_string(results.size()) + " outputs, expected " +
                 std::to_string(context.output_count() + 1) + " (condition and one per output)");
  }
  require_one_type(context, "the condition that the body returns",
                   ValueType::tensor(DataType::kBool), results[0]);
  for (size_t i = 0; i < carried; ++i) {
    check_carried(context, i, inputs[2 + i], results[1 + i]);
  }
  for (size_t i = 0; i < context.output_count(); ++i) {
    ValueType type = results[i + 1];
    if (i < carried) {
      type = type.without_shapes();
    } else if (type.is_tensor() && type.shape) {
      Dims dims = {Dim()};
      for (const Dim& dim : *type.shape) dims.push_back(dim);
      type.shape = std::move(dims);
    }
    context.set_output(i, std::move(type));
  }
}

// The pieces, all of one shape, one after the other along a new first axis.
Status stack(const std::vector<Tensor>& pieces, Tensor& stacked) {
  const Tensor& first = pieces.front();
  Shape shape = {static_cast<int64_t>(pieces.size())};
  for (int64_t dim : first.shape()) shape.push_back(dim);
  stacked = allocate_whole(first.type(), shape);
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].type() != first.type()) {
      return Status(ErrorCode::kInvalidArgument, "a stacked output changes its type");
    }
    if (!(pieces[i].shape() == first.shape())) {
      return Status(ErrorCode::kInvalidArgument, "a stacked output has the shape " +
                                                     to_string(first.shape()) + " in trip 0 and " +
                                                     to_string(pieces[i].shape()) + " in trip " +
                                                     std::to_string(i));
    }
    put_part(pieces[i], stacked, 0, static_cast<int64_t>(i), 1);
  }
  return Status::ok();
}

class LoopKernel final : public Kernel {
 public:
  explicit LoopKernel(const PrepareContext& context)
      : carried_(carried_count(context.input_count())) {
    for (const ValueType* type : context.output_types) {
      types_.push_back(type == nullptr ? ValueType() : *type);
    }
  }

  Status run(const RunContext& context) const override {
    for (size_t i = 0; i < 2; ++i) {
      if (context.has_input(i) && context.input(i).size() != 1) {
        return Status(ErrorCode::kInvalidArgument,
                      std::string(i == 0 ? "the trip count" : "the condition") + " has " +
                          std::to_string(context.input(i).size()) + " elements, expected one");
      }
    }
    int64_t trips = INT64_MAX;
    bool go_on = true;
    if (context.has_input(0)) trips = context.in<int64_t>(0)[0];
    if (context.has_input(1)) go_on = context.in<bool>(1)[0];
    const bool watch_condition = context.has_input(1);

    std::vector<Tensor> inputs(2 + carried_);
    int64_t trip = 0;
    bool condition = go_on;
    inputs[0] = Tensor::view(DataType::kInt64, {}, &trip);
    inputs[1] = Tensor::view(DataType::kBool, {}, &condition);
    for (size_t i = 0; i < carried_; ++i) {
      inputs[2 + i] = context.input_tensor(2 + i);
    }
    const size_t stacked_count = context.outputs.size() - carried_;
    std::vector<std::vector<Tensor>> pieces(stacked_count);
    for (; trip < trips && go_on; ++trip) {
      std::vector<Tensor> outputs(1 + context.outputs.size());
      SDX_RETURN_IF_FAILED(context.subgraphs->run("body", inputs, outputs));
      // Without an initial condition the body's is ignored.
      if (watch_condition) {
        if (outputs[0].type() != DataType::kBool || outputs[0].size() != 1) {
          return Status(ErrorCode::kInvalidArgument,
                        "the body's condition is " + std::string(name_of(outputs[0].type())) +
                            to_string(outputs[0].shape()) + ", expected one bool");
        }
        go_on = condition = outputs[0].data<bool>()[0];
      }
      for (size_t i = 0; i < carried_; ++i) inputs[2 + i] = std::move(outputs[1 + i]);
      for (size_t i = 0; i < stacked_count; ++i) {
        pieces[i].push_back(std::move(outputs[1 + carried_ + i]));
      }
    }
    for (size_t i = 0; i < carried_; ++i) {
      if (!context.is_wanted(i)) continue;
      // What never went through the body is still the caller's memory.
      Tensor last = trip == 0 ? keep(inputs[2 + i]) : inputs[2 + i];
      SDX_RETURN_IF_FAILED(context.give_output(i, std::move(last)));
    }
    for (size_t i = 0; i < stacked_count; ++i) {
      if (!context.is_wanted(carried_ + i)) continue;
      Tensor stacked;
      if (pieces[i].empty()) {
        stacked = Tensor::allocate(types_[carried_ + i].element, empty_shape(carried_ + i));
      } else {
        SDX_RETURN_IF_FAILED(stack(pieces[i], stacked));
      }
      SDX_RETURN_IF_FAILED(context.give_output(carried_ + i, std::move(stacked)));
    }
    return Status::ok();
  }

 private:
  // Of a stacked output when there was no trip: what the body declares, unknown sizes as 0.
  Shape empty_shape(size_t output) const {
    Shape shape = {0};
    const SymShape& declared = types_[output].shape;
    for (size_t d = 1; declared && d < declared->size(); ++d) {
      shape.push_back((*declared)[d].is_known() ? (*declared)[d].value : 0);
    }
    return shape;
  }

  size_t carried_;
  std::vector<ValueType> types_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  for (size_t i = carried_count(context.input_count()); i < context.output_types.size(); ++i) {
    const ValueType* type = context.output_types[i];
    if (type != nullptr && type->holds_values()) {
      context.unsupported("tensors as outputs that are stacked");
    }
  }
  return std::make_unique<LoopKernel>(context);
}

}  // namespace

extern const OpDef kLoop = {.domain = "",
                            .name = "Loop",
                            .versions = kVersions,
                            .traits = kControlFlow | kNoFold,
                            .infer = infer,
                            .prepare = prepare};

}  // namespace sardonyx
