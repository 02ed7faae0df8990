// QuantizeLinear: x / scale rounded to the nearest (halves to even), then the zero point added,
// then saturated. NaN counts as 0 where the target has none. The quotient has the precision of the
// scale, or of attribute 'precision'.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/quantize/quantize.h"
#include "ops/elementwise/convert.h"
#include "ops/elementwise/loop.h"
#include "ops/elementwise/narrow.h"
#include "ops/quantize/granularity.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {10, "x: T1, y_scale: float, y_zero_point: T2? -> y: T2 | | T1: float int32, T2: int8 uint8"},
    {13,
     "x: T1, y_scale: float, y_zero_point: T2? -> y: T2 | axis: int = 1 | T1: float int32, T2: "
     "int8 uint8"},
    {19,
     "x: T1, y_scale: T1, y_zero_point: T2? -> y: T2 | axis: int = 1, saturate: int = 1 | T1: "
     "float16 float bfloat16 int32, T2: @float8 int8 uint8"},
    {21,
     "x: T1, y_scale: T1, y_zero_point: T2? -> y: T2 | axis: int = 1, block_size: int = 0, "
     "output_dtype: int = 0, saturate: int = 1 | T1: float16 float bfloat16 int32, T2: @float8 "
     "int16 int4 int8 uint16 uint4 uint8"},
    {23,
     "x: T1, y_scale: T2, y_zero_point: T3? -> y: T3 | axis: int = 1, block_size: int = 0, "
     "output_dtype: int = 0, precision: int = 0, saturate: int = 1 | T1: float16 float bfloat16 "
     "int32, T2: float16 float bfloat16 int32, T3: @float8 float4e2m1 int16 int4 int8 uint16 uint4 "
     "uint8"},
    {24,
     "x: T1, y_scale: T2, y_zero_point: T3? -> y: T3 | axis: int = 1, block_size: int = 0, "
     "output_dtype: int = 0, precision: int = 0, saturate: int = 1 | T1: float16 float bfloat16 "
     "int32, T2: float16 float bfloat16 float8e8m0 int32, T3: @float8 float4e2m1 int16 int4 int8 "
     "uint16 uint4 uint8"},
    {25,
     "x: T1, y_scale: T2, y_zero_point: T3? -> y: T3 | axis: int = 1, block_size: int = 0, "
     "output_dtype: int = 0, precision: int = 0, saturate: int = 1 | T1: float16 float bfloat16 "
     "int32, T2: float16 float bfloat16 float8e8m0 int32, T3: @float8 float4e2m1 int16 int2 int4 "
     "int8 uint16 uint2 uint4 uint8"},
    {28,
     "x: T1, y_scale: T2, y_zero_point: T3? -> y: T3 | axis: int = 1, block_size: int = 0, "
     "output_dtype: int = 0, precision: int = 0, saturate: int = 1 | T1: float16 float bfloat16 "
     "int32, T2: float16 float bfloat16 float8e8m0 int32, T3: @float8 float4e2m1 float6e2m3 "
     "float6e3m2 int16 int2 int4 int8 uint16 uint2 uint4 uint8"},
};

// kUndefined: the attribute names no type.
DataType type_attribute(const Node& node, std::string_view name, DataType fallback) {
  const int64_t number = node.attributes.get_int(name, 0);
  if (number == 0) return fallback;
  return is_data_type(number) ? static_cast<DataType>(number) : DataType::kUndefined;
}

void infer(InferContext& context) {
  const DataType zero = context.has_input(2) ? context.input_element(2) : DataType::kUndefined;
  const DataType output = type_attribute(context.node(), "output_dtype",
                                         context.has_input(2) ? zero : DataType::kUint8);
  if (context.has_input(2) && output != zero) {
    context.fail("attribute 'output_dtype' is not the type of the zero point");
  }
  check_granularity(context);
  context.set_output(0, output, context.input_shape(0));
}

// The smallest and the largest value of an integer type.
struct Limits {
  float low = 0, high = 0;
};
Limits limits_of(DataType type) {
  const int bits = bits_of(type);
  const bool is_signed = type == DataType::kInt16 || type == DataType::kInt8 ||
                         type == DataType::kInt4 || type == DataType::kInt2;
  const auto count = static_cast<float>(1 << bits);
  return is_signed ? Limits{-count / 2, count / 2 - 1} : Limits{0, count - 1};
}

class QuantizeKernel final : public Kernel {
 public:
  explicit QuantizeKernel(const PrepareContext& context)
      : precision_(type_attribute(context.node, "precision", context.input_element(1))),
        kernels_(kernels::quantize_kernels(context.isa)) {
    const DataType output = context.output_element(0);
    options_.saturate = context.node.attributes.get_int("saturate", 1) != 0;
    if (is_integer(output)) limits_ = limits_of(output);
    simd_ = context.input_element(0) == DataType::kFloat && precision_ == DataType::kFloat &&
            (output == DataType::kInt8 || output == DataType::kUint8);
  }

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    plan.state = std::make_shared<Granularity>(granularity_of(context));
    plan.split(loop_units(element_count(context.input_shape(0))), (simd_ ? 0.3 : 2.5) * kLoopUnit);
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
        kernels_.quantize(x.as<float>() + at, n,
                          {scale, zero, one ? 0 : 1, out.type == DataType::kInt8},
                          out.as<uint8_t>() + at);
        continue;
      }
      load_floats(x.type, x.data, at, n, values);
      divide(values, scale, n);
      if (is_integer(out.type)) {
        store_integers(values, zero, out, at, n);
      } else {
        // The zero point of a floating type is 0; adding it makes -0 of 4 bits 0.
        for (int64_t i = 0; is_sub_byte(out.type) && i < n; ++i) values[i] += zero[i];
        SDX_RETURN_IF_FAILED(store_floats(values, out, at, n));
      }
    }
    return Status::ok();
  }

 private:
  void divide(float* values, const float* scale, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) values[i] /= scale[i];
    if (!is_narrow(precision_)) return;
    uint16_t rounded[kQuantBlock];
    round_back(precision_, values, rounded, n);
    widen(precision_, rounded, values, n);
  }

  void store_integers(float* values, const float* zero, const TensorView& out, int64_t begin,
                      int64_t n) const {
    for (int64_t i = 0; i < n; ++i) {
      // Beyond 2^20 everything saturates; below it the sum is exact.
      const float rounded =
          values[i] != values[i] ? 0.0f : std::nearbyint(std::clamp(values[i], -0x1p20f, 0x1p20f));
      values[i] = std::clamp(rounded + zero[i], limits_.low, limits_.high);
    }
    const bool whole = visit_integers(out.type, [&]<typename T>(TypeTag<T>) {
      T* to = out.as<T>() + begin;
      for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(values[i]);
    });
    if (whole) return;
    uint8_t codes[kQuantBlock];
    for (int64_t i = 0; i < n; ++i) codes[i] = static_cast<uint8_t>(static_cast<int>(values[i]));
    pack_codes(codes, begin, n, bits_of(out.type), out.as<uint8_t>());
  }

  Status store_floats(const float* values, const TensorView& out, int64_t begin, int64_t n) const {
    // convert_elements reads and writes at the same index; blocks start at whole bytes.
    const int64_t byte = begin * bits_of(out.type) / 8;
    return convert_elements(DataType::kFloat, values, out.type, out.as<uint8_t>() + byte, 0, n,
                            options_);
  }

  DataType precision_;
  const kernels::QuantizeKernels& kernels_;
  bool simd_ = false;  // from floats to bytes
  ConvertOptions options_;
  Limits limits_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<QuantizeKernel>(context);
}

}  // namespace

extern const OpDef kQuantizeLinear = {
    .domain = "",
    .name = "QuantizeLinear",
    .versions = kVersions,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
