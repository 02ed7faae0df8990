#include "elements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compare.h"
#include "picture.h"

namespace sardonyx::cli {
namespace {

TEST(Half, EveryPatternRoundTrips) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double value = decode_half(static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(decode_half(encode_half(value))));
    } else {
      ASSERT_EQ(encode_half(value), bits) << value;
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(decode_half(encode_half(2049)), 2048);
  EXPECT_EQ(decode_half(encode_half(2051)), 2052);
  EXPECT_EQ(decode_half(encode_half(65519)), 65504);
  EXPECT_TRUE(std::isinf(decode_half(encode_half(65520))));
  EXPECT_EQ(decode_half(encode_half(std::ldexp(1, -25))), 0);
  EXPECT_EQ(decode_half(encode_half(std::ldexp(1.5, -25))), std::ldexp(1, -24));
}

TEST(Elements, IntegersAreCutOffAtTheirRange) {
  const int64_t shape[] = {4};
  const double elements[] = {1e300, -1e300, std::numeric_limits<double>::quiet_NaN(), 3};
  Value value = Value::tensor(ElementType::kInt64, shape);
  set_from_doubles(value, elements);
  EXPECT_EQ(value.as<int64_t>()[0], std::numeric_limits<int64_t>::max());
  EXPECT_EQ(value.as<int64_t>()[1], std::numeric_limits<int64_t>::min());
  EXPECT_EQ(value.as<int64_t>()[2], 0);
  EXPECT_EQ(value.as<int64_t>()[3], 3);
}

Value floats(const std::vector<float>& elements) {
  const int64_t shape[] = {static_cast<int64_t>(elements.size())};
  return Value::copy_of<float>(elements, shape);
}

TEST(Compare, FollowsAllclose) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const Tolerance tolerance{1e-3, 1e-4};
  EXPECT_TRUE(
      compare(floats({1.0005f, nan, inf, 0.00009f}), floats({1, nan, inf, 0}), tolerance).is_equal);
  EXPECT_FALSE(compare(floats({1.002f}), floats({1}), tolerance).is_equal);
  EXPECT_FALSE(compare(floats({nan}), floats({1}), tolerance).is_equal);
  EXPECT_FALSE(compare(floats({inf}), floats({-inf}), tolerance).is_equal);
  EXPECT_FALSE(compare(floats({1e30f}), floats({inf}), tolerance).is_equal);
  EXPECT_FALSE(compare(floats({1, 2}), floats({1}), tolerance).is_equal);
  EXPECT_FALSE(compare(Value(), floats({1}), tolerance).is_equal);
  const int64_t shape[] = {1};
  EXPECT_FALSE(
      compare(Value::tensor(ElementType::kDouble, shape), floats({0}), tolerance).is_equal);
}

TEST(Compare, NamesTheFirstDifference) {
  const int64_t shape[] = {2, 2};
  const std::vector<float> expected = {1, 2, 3, 4};
  std::vector<float> actual = expected;
  actual[2] = 9;
  const Comparison result = compare(Value::copy_of<float>(actual, shape),
                                    Value::copy_of<float>(expected, shape), Tolerance());
  EXPECT_NE(result.summary.find("1 of 4 elements differ, first [1,0]: 9, expected 3"),
            std::string::npos)
      << result.summary;
}

TEST(Picture, ResizeKeepsSizeAndAverages) {
  RgbImage image{2, 1, {0, 10, 20, 100, 110, 120}};
  EXPECT_EQ(resize_bilinear(image, 1, 2), (std::vector<float>{0, 10, 20, 100, 110, 120}));
  EXPECT_EQ(resize_bilinear(image, 1, 1), (std::vector<float>{50, 60, 70}));
  // Half-pixel centres: -0.25 is clamped to 0, then 0.25, 0.75, 1.
  const std::vector<float> wide = resize_bilinear(image, 1, 4);
  EXPECT_EQ(wide[0], 0);
  EXPECT_EQ(wide[3], 25);
  EXPECT_EQ(wide[6], 75);
  EXPECT_EQ(wide[9], 100);
}

}  // namespace
}  // namespace sardonyx::cli
