// Pow: the result has the base's type. Integer powers of integers are exact and wrap around; a
// negative exponent gives the truncated value (0 but for bases 1 and -1; base 0 gives 0). Any other
// pair is computed in float or double and converted back as Cast does.
#include <cmath>

#include "ops/elementwise/binary.h"
#include "ops/elementwise/convert.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "X: T, Y: T -> Z: T | axis: int?, broadcast: int = 0 | T: @ieee"},
    {7, "X: T, Y: T -> Z: T | | T: @ieee"},
    {12, "X: T, Y: T1 -> Z: T | | T: @ieee int32 int64, T1: @numeric"},
    {13, "X: T, Y: T1 -> Z: T | | T: @float int32 int64, T1: @numeric"},
    {15, "X: T, Y: T1 -> Z: T | | T: @float int32 int64, T1: @numeric13"},
};

template <typename T>
T integer_power(T base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  uint64_t result = 1;
  auto square = static_cast<uint64_t>(base);
  for (auto left = static_cast<uint64_t>(exponent); left != 0; left >>= 1) {
    if ((left & 1) != 0) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

// A base of type T; exponents come as int64_t (integers) or double.
template <typename T>
void power_row(const void* base, int base_step, const void* exponents, bool integers,
               int exponent_step, void* out, int64_t n) {
  const T* x = static_cast<const T*>(base);
  T* z = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) {
    const T b = x[i * base_step];
    if constexpr (std::is_integral_v<T>) {
      z[i] = integers ? integer_power(b, static_cast<const int64_t*>(exponents)[i * exponent_step])
                      : truncate_saturate<T>(
                            std::pow(static_cast<double>(b),
                                     static_cast<const double*>(exponents)[i * exponent_step]));
    } else {
      const double e =
          integers ? static_cast<double>(static_cast<const int64_t*>(exponents)[i * exponent_step])
                   : static_cast<const double*>(exponents)[i * exponent_step];
      if constexpr (std::is_same_v<T, double>) {
        z[i] = std::pow(b, e);
      } else {
        z[i] = from_compute<T>(std::pow(to_compute(b), static_cast<float>(e)));
      }
    }
  }
}

constexpr int64_t kBlock = 256;

template <typename T, DataType kExponent>
void power_loop(const void* base, int base_step, const void* exponents, int exponent_step,
                void* out, int64_t n) {
  constexpr bool kIntegers = kExponent != DataType::kFloat && kExponent != DataType::kDouble &&
                             kExponent != DataType::kFloat16 && kExponent != DataType::kBfloat16;
  const int64_t width = bits_of(kExponent) / 8;
  std::conditional_t<kIntegers, int64_t, double> wide[kBlock];
  for (int64_t at = 0; at < n; at += kBlock) {
    const int64_t count = std::min(kBlock, n - at);
    const void* from = static_cast<const char*>(exponents) + at * exponent_step * width;
    const int64_t read = exponent_step == 1 ? count : 1;
    if constexpr (kIntegers) {
      load_int64(kExponent, from, 0, read, wide);
    } else {
      load_double(kExponent, from, 0, read, wide);
    }
    power_row<T>(static_cast<const T*>(base) + at * base_step, base_step, wide, kIntegers,
                 exponent_step, static_cast<T*>(out) + at, count);
  }
}

template <typename T>
BinaryLoop loop_for(DataType exponent) {
  switch (exponent) {
    case DataType::kFloat:
      return power_loop<T, DataType::kFloat>;
    case DataType::kDouble:
      return power_loop<T, DataType::kDouble>;
    case DataType::kFloat16:
      return power_loop<T, DataType::kFloat16>;
    case DataType::kBfloat16:
      return power_loop<T, DataType::kBfloat16>;
    case DataType::kInt8:
      return power_loop<T, DataType::kInt8>;
    case DataType::kInt16:
      return power_loop<T, DataType::kInt16>;
    case DataType::kInt32:
      return power_loop<T, DataType::kInt32>;
    case DataType::kInt64:
      return power_loop<T, DataType::kInt64>;
    case DataType::kUint8:
      return power_loop<T, DataType::kUint8>;
    case DataType::kUint16:
      return power_loop<T, DataType::kUint16>;
    case DataType::kUint32:
      return power_loop<T, DataType::kUint32>;
    case DataType::kUint64:
      return power_loop<T, DataType::kUint64>;
    default:
      return nullptr;
  }
}

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  const DataType base = context.input_element(0);
  const DataType exponent = context.input_element(1);
  BinaryCode code{base, exponent, base};
  code.nanoseconds = 8.0;
  const bool same_float =
      base == exponent &&
      (base == DataType::kFloat || base == DataType::kFloat16 || base == DataType::kBfloat16);
  if (same_float) {
    code.float_loop = kernels::binary_kernels(context.isa)[kernels::BinaryOp::kPow];
    return make_binary_kernel(context.node, code);
  }
  visit_floats(base, [&]<typename T>(TypeTag<T>) { code.loop = loop_for<T>(exponent); });
  if (base == DataType::kInt32) code.loop = loop_for<int32_t>(exponent);
  if (base == DataType::kInt64) code.loop = loop_for<int64_t>(exponent);
  if (code.loop == nullptr) context.unsupported("a float or int32, int64 base and numbers");
  return make_binary_kernel(context.node, code);
}

void infer(InferContext& context) { infer_binary(context, DataType::kUndefined, nullptr); }

}  // namespace

extern const OpDef kPow = {
    .domain = "",
    .name = "Pow",
    .versions = kVersions,
    .traits = kElementwise,
    .in_place = 0b1,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
