#include "tensor/numeric.h"

#include <gtest/gtest.h>

#include <vector>

namespace sardonyx {
namespace {

// FNV-1a over the bits of all decoded values, computed with the ml_dtypes package (the codes of NaN
// left out).
uint64_t hash_of_values(const FloatFormat& format, int bits) {
  uint64_t hash = 14695981039346656037ull;
  for (uint32_t code = 0; code < (1u << bits); ++code) {
    const float value = decode_float(code, format);
    if (value != value) continue;
    const uint32_t x = std::bit_cast<uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8)
      hash = (hash ^ (x >> shift & 0xff)) * 1099511628211ull;
  }
  return hash;
}

struct Named {
  const char* name;
  FloatFormat format;
  int bits;
  uint64_t hash;
};
constexpr Named kFormats[] = {
    {"Float16", kFloat16Format, 16, 12080191306194942245ull},
    {"Bfloat16", kBfloat16Format, 16, 7898864708243718645ull},
    {"Float8E4M3FN", kFloat8E4M3FNFormat, 8, 11315819370384980517ull},
    {"Float8E4M3FNUZ", kFloat8E4M3FNUZFormat, 8, 7918755551037702997ull},
    {"Float8E5M2", kFloat8E5M2Format, 8, 14327469826241587877ull},
    {"Float8E5M2FNUZ", kFloat8E5M2FNUZFormat, 8, 11479928267039877029ull},
    {"Float4E2M1", kFloat4E2M1Format, 4, 2595123928869240485ull},
};

TEST(Numeric, DecodedValuesAreThoseOfMlDtypes) {
  for (const Named& each : kFormats) {
    EXPECT_EQ(hash_of_values(each.format, each.bits), each.hash) << each.name;
  }
}

TEST(Numeric, EveryCodeSurvivesARoundTrip) {
  for (const Named& each : kFormats) {
    for (uint32_t code = 0; code < (1u << each.bits); ++code) {
      const float value = decode_float(code, each.format);
      if (value != value) continue;
      ASSERT_EQ(encode_float(value, each.format, false), code) << each.name;
    }
  }
}

// Between neighbours a < b: below the middle gives a, above gives b, the middle the even code.
TEST(Numeric, RoundsToNearestEven) {
  for (const Named& each : kFormats) {
    for (uint32_t code = 0; code < each.format.largest_code(); ++code) {
      const double a = decode_float(code, each.format);
      const double b = decode_float(code + 1, each.format);
      const double middle = (a + b) / 2;  // exact
      const uint32_t even = code % 2 == 0 ? code : code + 1;
      const uint32_t sign = each.format.sign_code();
      ASSERT_EQ(encode_float(middle, each.format, false), even) << each.name << ' ' << code;
      ASSERT_EQ(encode_float(std::nextafter(middle, a), each.format, false), code);
      ASSERT_EQ(encode_float(std::nextafter(middle, b), each.format, false), code + 1);
      if (even != 0) {
        ASSERT_EQ(encode_float(-middle, each.format, false), sign | even);
      }
    }
  }
}

TEST(Numeric, FloatToHalfEqualsTheGeneralWay) {
  // Every pattern of the upper 20 bits with low bits that are near ties.
  for (uint64_t high = 0; high < (1u << 20); ++high) {
    for (uint32_t low : {0x000u, 0x001u, 0x7ffu, 0x800u, 0xfffu}) {
      const float value = std::bit_cast<float>(static_cast<uint32_t>(high << 12 | low));
      if (value != value) {
        ASSERT_NE(static_cast<float>(Float16::from(value)),
                  static_cast<float>(Float16::from(value)));
        continue;
      }
      ASSERT_EQ(Float16::from(value).bits, encode_float(value, kFloat16Format, false)) << value;
      ASSERT_EQ(Bfloat16::from(value).bits, encode_float(value, kBfloat16Format, false)) << value;
    }
  }
}

TEST(Numeric, OverflowFollowsTheTableOfCast) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Float8E4M3FN::from(kInfinity, true).bits, 0x7e);
  EXPECT_EQ(Float8E4M3FN::from(kInfinity, false).bits, 0x7f);
  EXPECT_EQ(Float8E4M3FN::from(-1e9, false).bits, 0xff);
  EXPECT_EQ(Float8E4M3FN::from(464.0, false).bits, 0x7e);
  EXPECT_EQ(Float8E4M3FN::from(464.1, false).bits, 0x7f);
  EXPECT_EQ(Float8E4M3FNUZ::from(kInfinity, true).bits, 0x7f);
  EXPECT_EQ(Float8E4M3FNUZ::from(-kInfinity, false).bits, 0x80);
  EXPECT_EQ(Float8E4M3FNUZ::from(-0.0).bits, 0x00);
  EXPECT_EQ(Float8E4M3FNUZ::from(-1e-9).bits, 0x00);
  EXPECT_EQ(Float8E5M2::from(kInfinity, true).bits, 0x7b);
  EXPECT_EQ(Float8E5M2::from(kInfinity, false).bits, 0x7c);
  EXPECT_EQ(Float8E5M2::from(-1e9, true).bits, 0xfb);
  EXPECT_EQ(Float8E5M2FNUZ::from(1e9, false).bits, 0x80);
  EXPECT_EQ(encode_float(100.0, kFloat4E2M1Format, false), 7u);
  EXPECT_EQ(encode_float(-kInfinity, kFloat4E2M1Format, false), 15u);
}

TEST(Numeric, E8M0) {
  for (int code = 0; code < 0xff; ++code) {
    const float value = Float8E8M0{static_cast<uint8_t>(code)};
    EXPECT_EQ(value, std::ldexp(1.0f, code - 127));
    for (auto rounding : {E8M0Rounding::kUp, E8M0Rounding::kDown, E8M0Rounding::kNearest}) {
      EXPECT_EQ(Float8E8M0::from(value, false, rounding).bits, code);
    }
  }
  EXPECT_EQ(Float8E8M0::from(1.0001).bits, 128);
  EXPECT_EQ(Float8E8M0::from(1.9999, true, E8M0Rounding::kDown).bits, 127);
  EXPECT_EQ(Float8E8M0::from(1.5, true, E8M0Rounding::kNearest).bits, 128);
  EXPECT_EQ(Float8E8M0::from(1.4999, true, E8M0Rounding::kNearest).bits, 127);
  EXPECT_EQ(Float8E8M0::from(0.0, true).bits, 0);
  EXPECT_EQ(Float8E8M0::from(0.0, false).bits, 0xff);
  EXPECT_EQ(Float8E8M0::from(1e300, true).bits, 0xfe);
  EXPECT_EQ(Float8E8M0::from(1e300, false).bits, 0xff);
}

TEST(Numeric, PackedCodes) {
  const std::vector<uint8_t> codes = {1, 2, 3, 0, 2, 1, 3};
  for (int bits : {2, 4}) {
    std::vector<uint8_t> packed(4, 0xff);
    pack_codes(codes.data(), 0, 7, bits, packed.data());
    std::vector<uint8_t> back(7);
    unpack_codes(packed.data(), 0, 7, bits, back.data());
    EXPECT_EQ(back, codes);
    store_code(packed.data(), 3, bits, 3);
    EXPECT_EQ(load_code(packed.data(), 3, bits), 3);
    EXPECT_EQ(load_code(packed.data(), 2, bits), 3);
    EXPECT_EQ(load_code(packed.data(), 4, bits), 2);
  }
  uint8_t packed[2] = {};
  pack_codes(codes.data(), 0, 2, 4, packed);
  EXPECT_EQ(packed[0], 0x21);  // the first element is the low half
  EXPECT_EQ(sign_extend(0xf, 4), -1);
  EXPECT_EQ(sign_extend(0x8, 4), -8);
  EXPECT_EQ(sign_extend(0x2, 2), -2);
}

TEST(Numeric, TruncateSaturate) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(truncate_saturate<int8_t>(nan), 0);
  EXPECT_EQ(truncate_saturate<int8_t>(-128.9), -128);
  EXPECT_EQ(truncate_saturate<int8_t>(127.9), 127);
  EXPECT_EQ(truncate_saturate<uint8_t>(-0.9), 0);
  EXPECT_EQ(truncate_saturate<uint8_t>(-5.0), 0);
  EXPECT_EQ(truncate_saturate<int64_t>(9.3e18), INT64_MAX);
  EXPECT_EQ(truncate_saturate<int64_t>(-9.3e18), INT64_MIN);
  EXPECT_EQ(truncate_saturate<uint64_t>(1e30), UINT64_MAX);
  EXPECT_EQ(truncate_saturate<uint64_t>(-1e30), 0u);
}

}  // namespace
}  // namespace sardonyx
