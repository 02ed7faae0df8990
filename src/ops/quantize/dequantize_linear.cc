// DequantizeLinear: (x - zero point) * scale, computed in float.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/quantize/quantize.h"
#include "ops/elementwise/loop.h"
#include "ops/elementwise/narrow.h"
#include "ops/quantize/granularity.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {10, "x: T, x_scale: float, x_zero_point: T? -> y: float | | T: int32 int8 uint8"},
    {13,
     "x: T, x_scale: float, x_zero_point: T? -> y: float | axis: int = 1 | T: int32 int8 uint8"},
    {19,
     "x: T1, x_scale: T2, x_zero_point: T1? -> y: T2 | axis: int = 1 | T1: @float8 int32 int8 "
     "uint8, T2: float16 float bfloat16"},
    {21,
     "x: T1, x_scale: T2, x_zero_point: T1? -> y: T2 | axis: int = 1, block_size: int = 0 | T1: "
     "@float8 int16 int32 int4 int8 uint16 uint4 uint8, T2: float16 float bfloat16"},
    {23,
     "x: T1, x_scale: T2, x_zero_point: T1? -> y: T3 | axis: int = 1, block_size: int = 0, "
     "output_dtype: int = 0 | T1: @float8 float4e2m1 int16 int32 int4 int8 uint16 uint4 uint8, T2: "
     "float16 float bfloat16, T3: float16 float bfloat16"},
    {24,
     "x: T1, x_scale: T2, x_zero_point: T1? -> y: T3 | axis: int = 1, block_size: int = 0, "
     "output_dtype: int = 0 | T1: @float8 float4e2m1 int16 int32 int4 int8 uint16 uint4 uint8, T2: "
     "float16 float bfloat16 float8e8m0, T3: float16 float bfloat16"},
    {25,
     "x: T1, x_scale: T2, x_zero_point: T1? -> y: T3 | axis: int = 1, block_size: int = 0, "
     "output_dtype: int = 0 | T1: @float8 float4e2m1 int16 int2 int32 int4 int8 uint16 uint2 uint4 "
     "uint8, T2: float16 float bfloat16 float8e8m0, T3: float16 float bfloat16"},
    {28,
     "x: T1, x_scale: T2, x_zero_point: T1? -> y: T3 | axis: int = 1, block_size: int = 0, "
     "output_dtype: int = 0 | T1: @float8 float4e2m1 float6e2m3 float6e3m2 int16 int2 int32 int4 "
     "int8 uint16 uint2 uint4 uint8, T2: float16 float bfloat16 float8e8m0, T3: float16 float "
     "bfloat16"},
};

DataType output_of(const Node& node, DataType scale) {
  const int64_t number = node.attributes.get_int("output_dtype", 0);
  if (number != 0) return is_data_type(number) ? static_cast<DataType>(number) : DataType::kString;
  return node.version < 19 ? DataType::kFloat : scale;
}

void infer(InferContext& context) {
  const DataType output = output_of(context.node(), context.input_element(1));
  if (output != DataType::kFloat && output != DataType::kFloat16 && output != DataType::kBfloat16) {
    context.fail(context.node().attributes.contains("output_dtype")
                     ? "attribute 'output_dtype' must be float, float16 or bfloat16"
                     : "the type of the scale needs attribute 'output_dtype'");
  }
  check_granularity(context);
  context.set_output(0, output, context.input_shape(0));
}

class DequantizeKernel final : public Kernel {
 public:
  explicit DequantizeKernel(const PrepareContext& context)
      : kernels_(kernels::quantize_kernels(context.isa)) {
    const DataType input = context.input_element(0);
    simd_ = context.output_element(0) == DataType::kFloat &&
            (input == DataType::kInt8 || input == DataType::kUint8);
  }

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    plan.state = std::make_shared<Granularity>(granularity_of(context));
    plan.split(loop_units(element_count(context.input_shape(0))), (simd_ ? 0.2 : 1.5) * kLoopUnit);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const auto& granularity = context.state_as<Granularity>();
    const TensorView& x = context.input(0);
    const TensorView& out = context.output(0);
    const Range part = loop_part(context, x.size());
    const bool one = granularity.kind == Granularity::Kind::kTensor;
    float scale[kQuantBlock], zero[kQuantBlock] = {}, values[kQuantBlock];
    // One scale serves everything at once where no buffer is needed.
    const int64_t step = simd_ && one ? std::max<int64_t>(1, part.end - part.begin) : kQuantBlock;
    for (int64_t at = part.begin; at < part.end; at += step) {
      const int64_t n = std::min(step, part.end - at);
      if (!one || at == part.begin) {
        const int64_t wanted = one ? kQuantBlock : n;
        granularity.load(context.input(1), at, wanted, scale);
        if (context.has_input(2)) granularity.load(context.input(2), at, wanted, zero);
      }
      if (simd_) {
        kernels_.dequantize(x.as<uint8_t>() + at, n,
                            {scale, zero, one ? 0 : 1, x.type == DataType::kInt8},
                            out.as<float>() + at);
        continue;
      }
      load_floats(x.type, x.data, at, n, values);
      if (out.type == DataType::kFloat) {
        float* to = out.as<float>() + at;
        for (int64_t i = 0; i < n; ++i) to[i] = (values[i] - zero[i]) * scale[i];
        continue;
      }
      for (int64_t i = 0; i < n; ++i) values[i] = (values[i] - zero[i]) * scale[i];
      round_back(out.type, values, out.as<uint16_t>() + at, n);
    }
    return Status::ok();
  }

 private:
  const kernels::QuantizeKernels& kernels_;
  bool simd_ = false;  // from bytes to floats
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<DequantizeKernel>(context);
}

}  // namespace

extern const OpDef kDequantizeLinear = {
    .domain = "",
    .name = "DequantizeLinear",
    .versions = kVersions,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
