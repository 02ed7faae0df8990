#include "ops/internal/fused.h"

#include <fmt/format.h>

#include <cstring>

#include "kernels/elementwise/elementwise.h"
#include "ops/epilogue.h"
#include "ops/op.h"
#include "ops/resolve.h"

namespace sardonyx {
namespace {

constexpr size_t kResidual = 3;

bool is_matrix_product(const Node& node) { return node.op == "FusedMatMul"; }
size_t inner_inputs(const Node& node) { return is_matrix_product(node) ? 2 : 3; }

struct FusedState {
  int inner_phases;
  std::shared_ptr<const void> inner;
};

// Runs the plain operator, then a last phase that finishes its output in place.
class FusedKernel : public Kernel {
 public:
  explicit FusedKernel(const PrepareContext& context)
      : inner_(inner_node(context.node)),
        epilogue_(parse_epilogue(context.node)),
        scale_(context.node.attributes.get_float("scale", 1.0f)),
        inputs_(inner_inputs(context.node)),
        row_bias_(is_matrix_product(context.node)),
        unary_(kernels::unary_kernels(context.isa)),
        binary_(kernels::binary_kernels(context.isa)) {
    const size_t count = std::min(inputs_, context.input_count());
    kernel_ = op_of(inner_).prepare({inner_, context.input_types.subspan(0, count),
                                     context.input_constants.subspan(0, count),
                                     context.output_types, context.isa});
  }

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    std::vector<const TensorView*> inputs;
    for (size_t i = 0; i < std::min(inputs_, context.input_count()); ++i) {
      inputs.push_back(&context.input_values(i));
    }
    TensorView out;
    out.type = context.output_type(0);
    out.shape = context.output_shape(0);
    const TensorView* const outputs[] = {&out};
    SDX_RETURN_IF_FAILED(kernel_->resolve(ResolveContext(inner_, inputs, outputs), plan));
    if (context.has_input(kResidual) && context.input_shape(kResidual) != context.output_shape(0)) {
      return Status(ErrorCode::kInvalidArgument,
                    fmt::format("the residual is {}, the output {}",
                                to_string(context.input_shape(kResidual)), to_string(out.shape)));
    }
    if (row_bias_ && context.has_input(2) &&
        context.input_shape(2) != Shape{row_size(context.output_shape(0))}) {
      return Status(ErrorCode::kInvalidArgument,
                    fmt::format("the bias is {}, the output {}", to_string(context.input_shape(2)),
                                to_string(out.shape)));
    }
    if (plan.phases == kMaxPhases) {
      return Status(ErrorCode::kFail, "the plain operator takes all phases");
    }
    plan.state = std::make_shared<FusedState>(FusedState{plan.phases, plan.state});
    plan.split(plan.phases++, rows(out.shape), 4.0 * static_cast<double>(row_size(out.shape)));
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const TensorView& out = context.output(0);
    const auto& state = context.state_as<FusedState>();
    if (context.phase < state.inner_phases) {
      RunContext inner = context;
      inner.state = state.inner.get();
      inner.inputs = context.inputs.subspan(0, std::min(inputs_, context.inputs.size()));
      return kernel_->run(inner);
    }
    const int64_t row = row_size(out.shape);
    const Range range = context.part(rows(out.shape));
    for (int64_t i = range.begin; i < range.end; ++i) {
      float* y = out.as<float>() + i * row;
      if (scale_ != 1.0f) binary_[kernels::BinaryOp::kMul](y, 1, &scale_, 0, y, row);
      if (row_bias_ && context.has_input(2)) {
        binary_[kernels::BinaryOp::kAdd](y, 1, context.in<float>(2), 1, y, row);
      }
      if (context.has_input(kResidual)) {
        const float* residual = context.in<float>(kResidual) + i * row;
        binary_[kernels::BinaryOp::kAdd](y, 1, residual, 1, y, row);
      }
      unary_[kernels::unary_op(epilogue_.activation)](y, y, row, epilogue_.alpha, epilogue_.beta);
    }
    return Status::ok();
  }

 private:
  static int64_t row_size(const Shape& shape) { return shape.empty() ? 1 : shape.back(); }
  static int64_t rows(const Shape& shape) {
    return shape.empty() ? 1 : element_count(shape, 0, shape.size() - 1);
  }

  const Node inner_;
  const kernels::Epilogue epilogue_;
  const float scale_;
  const size_t inputs_;
  const bool row_bias_;
  const kernels::UnaryKernels& unary_;
  const kernels::BinaryKernels& binary_;
  std::unique_ptr<Kernel> kernel_;
};

void infer(InferContext& context) {
  const Node inner = inner_node(context.node());
  std::vector<InferInput> inputs;
  for (size_t i = 0; i < std::min(inner.inputs.size(), context.input_count()); ++i) {
    if (context.has_input(i)) {
      inputs.push_back({&context.input_type(i), context.input_constant(i), nullptr});
    } else {
      inputs.emplace_back();
    }
  }
  InferOutput output;
  InferContext inner_context(inner, context.dims(), inputs, {&output, 1});
  op_of(inner).infer(inner_context);
  context.set_output(0, output.type);
}

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<FusedKernel>(context);
}

#define EPILOGUE_SCHEMA "activation: string = '', alpha: float = 0.0, beta: float = 0.0 | T: float"
#define WINDOW_SCHEMA                                                                         \
  "X: T, W: T, B: T?, residual: T? -> Y: T | auto_pad: string = 'NOTSET', dilations: ints?, " \
  "group: int = 1, kernel_shape: ints?, pads: ints?, strides: ints?, "
constexpr OpVersion kConvVersions[] = {{1, WINDOW_SCHEMA EPILOGUE_SCHEMA}};
constexpr OpVersion kConvTransposeVersions[] = {
    {1, WINDOW_SCHEMA "output_padding: ints?, output_shape: ints?, " EPILOGUE_SCHEMA}};
constexpr OpVersion kMatMulVersions[] = {
    {1,
     "A: T, B: T, bias: T?, residual: T? -> Y: T | trans_a: int = 0, trans_b: int = 0, "
     "scale: float = 1.0, " EPILOGUE_SCHEMA}};
#undef WINDOW_SCHEMA
#undef EPILOGUE_SCHEMA

}  // namespace

Node inner_node(const Node& fused) {
  Node inner;
  inner.name = fused.name;
  inner.inputs =
      ValueIds(fused.inputs.begin(),
               fused.inputs.begin() + std::min(inner_inputs(fused), fused.inputs.size()));
  inner.outputs = fused.outputs;
  if (is_matrix_product(fused)) {
    const int64_t trans_a = fused.attributes.get_int("trans_a", 0);
    const int64_t trans_b = fused.attributes.get_int("trans_b", 0);
    inner.op = trans_a != 0 || trans_b != 0 ? "Gemm" : "MatMul";
    inner.version = 13;
    if (trans_a != 0) inner.attributes.set("transA", trans_a);
    if (trans_b != 0) inner.attributes.set("transB", trans_b);
    return inner;
  }
  inner.op = fused.op.substr(std::strlen("Fused"));
  inner.version = 11;
  inner.attributes = fused.attributes;
  for (const char* name : {"activation", "alpha", "beta"}) inner.attributes.erase(name);
  return inner;
}

extern const OpDef kFusedConv = {.domain = kInternalDomain,
                                 .name = "FusedConv",
                                 .versions = kConvVersions,
                                 .infer = infer,
                                 .prepare = prepare};
extern const OpDef kFusedConvTranspose = {.domain = kInternalDomain,
                                          .name = "FusedConvTranspose",
                                          .versions = kConvTransposeVersions,
                                          .infer = infer,
                                          .prepare = prepare};
extern const OpDef kFusedMatMul = {.domain = kInternalDomain,
                                   .name = "FusedMatMul",
                                   .versions = kMatMulVersions,
                                   .infer = infer,
                                   .prepare = prepare};

}  // namespace sardonyx
