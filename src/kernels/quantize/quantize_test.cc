#include "kernels/quantize/quantize.h"

#include <algorithm>

#include "kernels/test_util.h"

namespace sardonyx::kernels {
namespace {

class QuantizeTest : public EachIsa {};
SDX_TEST_EACH_ISA(QuantizeTest);

template <typename T>
T expected(float x, float scale, float zero) {
  const double value = static_cast<double>(x / scale);
  const double rounded = std::isnan(value) ? 0 : std::nearbyint(value);
  return static_cast<T>(std::clamp<double>(rounded + static_cast<double>(zero),
                                           std::numeric_limits<T>::min(),
                                           std::numeric_limits<T>::max()));
}

template <typename T>
void check_rows(const QuantizeKernels& kernels) {
  for (int64_t step : {0, 1}) {
    for (int64_t n : {0, 1, 3, 4, 7, 8, 15, 16, 17, 33, 70}) {
      GuardedBuffer<float> x(n), scale(step == 0 ? 1 : n), zero(step == 0 ? 1 : n), back(n);
      GuardedBuffer<T> out(n);
      fill_uniform(x, -300, 300, static_cast<uint32_t>(n));
      const std::vector<float> special = special_floats();
      for (int64_t i = 0; i < n; i += 2)
        x[i] = special[static_cast<size_t>(i * 7) % special.size()];
      fill_uniform(scale, 0.5f, 2.0f, 3);
      for (int64_t i = 0; i < zero.size(); ++i) {
        zero[i] = static_cast<float>(std::numeric_limits<T>::min() + i * 91 % 256);
      }
      const QuantizeRow row{scale.data(), zero.data(), step, std::is_signed_v<T>};
      kernels.quantize(x.data(), n, row, out.data());
      kernels.dequantize(out.data(), n, row, back.data());
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(out[i], expected<T>(x[i], scale[i * step], zero[i * step])) << x[i];
        ASSERT_EQ(back[i], (static_cast<float>(out[i]) - zero[i * step]) * scale[i * step]);
      }
    }
  }
}

TEST_P(QuantizeTest, Rows) {
  check_rows<uint8_t>(quantize_kernels(GetParam()));
  check_rows<int8_t>(quantize_kernels(GetParam()));
}

TEST_P(QuantizeTest, SignedBytesReachTheirLowestValue) {
  const float x[] = {-129, -128, -127, -126, 126, 127, 128, 129, 0.5f, 1.5f, -0.5f, -2.5f};
  const int8_t expected[] = {-128, -128, -127, -126, 126, 127, 127, 127, 0, 2, 0, -2};
  const float scale = 1, zero = 0;
  int8_t out[12];
  quantize_kernels(GetParam()).quantize(x, 12, {&scale, &zero, 0, true}, out);
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(out[i], expected[i]) << x[i];
}

TEST_P(QuantizeTest, MinMax) {
  for (int64_t n : {0, 1, 2, 15, 16, 17, 63, 64, 65, 200}) {
    for (int64_t place = 0; place < n; ++place) {
      GuardedBuffer<float> x(n);
      fill_uniform(x, -1, 1, 9);
      x[place] = -7;
      x[n - 1 - place] = place % 2 == 0 ? std::numeric_limits<float>::quiet_NaN() : 9.0f;
      float low = 0, high = 0, expected_low = 0, expected_high = 0;
      for (float value : x) {
        if (value < expected_low) expected_low = value;
        if (value > expected_high) expected_high = value;
      }
      quantize_kernels(GetParam()).min_max(x.data(), n, &low, &high);
      ASSERT_EQ(low, expected_low) << n << " " << place;
      ASSERT_EQ(high, expected_high) << n << " " << place;
    }
  }
}

}  // namespace
}  // namespace sardonyx::kernels
