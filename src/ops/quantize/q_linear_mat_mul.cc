// QLinearMatMul: the product of two quantised matrices, quantised. Bytes are multiplied exactly;
// 8-bit floats are multiplied in float.
#include <algorithm>
#include <cmath>

#include "ops/elementwise/convert.h"
#include "ops/gemm/batched.h"
#include "ops/gemm/int8_matmul.h"

namespace sardonyx {
namespace {

constexpr Int8Matmul kForm = {.a = 0,
                              .a_scale = 1,
                              .a_zero = 2,
                              .b = 3,
                              .b_scale = 4,
                              .b_zero = 5,
                              .y_scale = 6,
                              .y_zero = 7};

void infer(InferContext& context) {
  context.set_output(0, context.input_element(kForm.y_zero), infer_int8_matmul(context, kForm));
}

bool is_byte(DataType type) { return type == DataType::kInt8 || type == DataType::kUint8; }

// Any mixture of bytes and 8-bit floats, row by row.
class PlainKernel final : public Kernel {
 public:
  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto shape = std::make_shared<MatmulShape>(
        make_matmul_shape(context.input_shape(kForm.a), context.input_shape(kForm.b)));
    plan.scratch_bytes_per_chunk = (shape->k + 3 * shape->n) * int64_t{sizeof(float)};
    plan.split(shape->batch * shape->m, 5.0 * static_cast<double>(shape->n * shape->k));
    plan.state = std::move(shape);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& s = context.state_as<MatmulShape>();
    const TensorView &a = context.input(kForm.a), &b = context.input(kForm.b);
    auto* left = reinterpret_cast<float*>(context.chunk_scratch);
    float *right = left + s.k, *sums = right + s.n, *zeros = sums + s.n;
    const Range rows = context.part(s.batch * s.m);
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const int64_t product = row / s.m;
      const int64_t a_row = s.a_of(product) * s.m + row % s.m;
      load_floats(a.type, a.data, a_row * s.k, s.k, left);
      std::fill_n(sums, s.n, 0.0f);
      for (int64_t j = 0; j < s.n; ++j) {
        zeros[j] = value_at(context, kForm.b_zero, s.b_of(product) * s.n + j);
      }
      for (int64_t i = 0; i < s.k; ++i) {
        load_floats(b.type, b.data, (s.b_of(product) * s.k + i) * s.n, s.n, right);
        const float factor = left[i] - value_at(context, kForm.a_zero, a_row);
        for (int64_t j = 0; j < s.n; ++j) sums[j] += factor * (right[j] - zeros[j]);
      }
      SDX_RETURN_IF_FAILED(store(context, s, product, a_row, row, sums));
    }
    return Status::ok();
  }

 private:
  static Status store(const RunContext& context, const MatmulShape& s, int64_t product,
                      int64_t a_row, int64_t row, float* sums) {
    const float a_scale = value_at(context, kForm.a_scale, a_row);
    const float y_scale = value_at(context, kForm.y_scale, row);
    const float y_zero = value_at(context, kForm.y_zero, row);
    const TensorView& y = context.output(0);
    for (int64_t j = 0; j < s.n; ++j) {
      const float b_scale = value_at(context, kForm.b_scale, s.b_of(product) * s.n + j);
      sums[j] *= a_scale * b_scale / y_scale;
      // Halves to even before the zero point of an integer is added.
      sums[j] = (is_byte(y.type) ? std::nearbyint(sums[j]) : sums[j]) + y_zero;
      if (!is_byte(y.type)) continue;
      if (sums[j] != sums[j]) sums[j] = y_zero;
      const float low = y.type == DataType::kInt8 ? -128.0f : 0.0f;
      sums[j] = std::clamp(sums[j], low, low + 255.0f);
    }
    return convert_elements(DataType::kFloat, sums, y.type, y.as<uint8_t>() + row * s.n, 0, s.n,
                            ConvertOptions());
  }
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  if (is_byte(context.input_element(kForm.a)) && is_byte(context.input_element(kForm.b)) &&
      is_byte(context.output_element(0))) {
    return int8_matmul_kernel(context, kForm);
  }
  return std::make_unique<PlainKernel>();
}

constexpr OpVersion kVersions[] = {
    {10,
     "a: T1, a_scale: float, a_zero_point: T1, b: T2, b_scale: float, b_zero_point: T2, y_scale: "
     "float, y_zero_point: T3 -> y: T3 | | T1: int8 uint8, T2: int8 uint8, T3: int8 uint8"},
    {21,
     "a: T1, a_scale: TS, a_zero_point: T1, b: T2, b_scale: TS, b_zero_point: T2, y_scale: TS, "
     "y_zero_point: T3 -> y: T3 | | TS: float16 float bfloat16, T1: @float8 int8 uint8, T2: "
     "@float8 int8 uint8, T3: @float8 int8 uint8"},
};

}  // namespace

extern const OpDef kQLinearMatMul = {.domain = "",
                                     .name = "QLinearMatMul",
                                     .versions = kVersions,
                                     .infer = infer,
                                     .prepare = prepare};

}  // namespace sardonyx
