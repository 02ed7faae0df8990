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

// From the middle between the largest value and the next one that more exponent bits would allow
// on, a value overflows; the middle itself goes to the even side.
TEST(Numeric, OverflowStartsHalfAStepAboveTheLargest) {
  for (const Named& each : kFormats) {
    const FloatFormat& format = each.format;
    const uint32_t largest = format.largest_code();
    const double top = decode_float(largest, format);
    const double middle = top + (top - decode_float(largest - 1, format)) / 2;
    const uint32_t sign = format.sign_code();
    uint32_t overflow = format.nan_code();
    if (format.special == FloatFormat::Special::kIeee) overflow = format.infinity_code();
    if (format.special == FloatFormat::Special::kNone) overflow = largest;
    const bool no_sign = format.special == FloatFormat::Special::kNoSign;
    const uint32_t negative_overflow = no_sign ? overflow : sign | overflow;
    EXPECT_EQ(encode_float(std::nextafter(middle, 0.0), format, false), largest) << each.name;
    EXPECT_EQ(encode_float(-std::nextafter(middle, 0.0), format, false), sign | largest);
    EXPECT_EQ(encode_float(middle, format, false), largest % 2 == 0 ? largest : overflow)
        << each.name;
    for (double value :
         {std::nextafter(middle, 1e308), 2 * top, 1e300, std::numeric_limits<double>::infinity()}) {
      EXPECT_EQ(encode_float(value, format, false), overflow) << each.name << ' ' << value;
      EXPECT_EQ(encode_float(-value, format, false), negative_overflow) << each.name;
      EXPECT_EQ(encode_float(value, format, true), largest) << each.name << ' ' << value;
      EXPECT_EQ(encode_float(-value, format, true), sign | largest) << each.name << ' ' << value;
    }
  }
}

TEST(Numeric, NanZeroAndWhatIsBelowTheSmallest) {
  for (const Named& each : kFormats) {
    const FloatFormat& format = each.format;
    const bool no_sign = format.special == FloatFormat::Special::kNoSign;
    const uint32_t sign = no_sign ? 0 : format.sign_code();
    const double smallest = decode_float(1, format);
    for (bool saturate : {false, true}) {
      const double nan = std::numeric_limits<double>::quiet_NaN();
      const uint32_t code = encode_float(nan, format, saturate);
      if (format.special == FloatFormat::Special::kNone) {
        EXPECT_EQ(code, format.sign_code());
      } else {
        EXPECT_EQ(code, format.nan_code()) << each.name;
        EXPECT_TRUE(std::isnan(decode_float(code, format))) << each.name;
      }
      EXPECT_EQ(encode_float(0.0, format, saturate), 0u) << each.name;
      EXPECT_EQ(encode_float(-0.0, format, saturate), sign) << each.name;
      for (double tiny : {smallest / 2, smallest / 3, 4.9e-324}) {
        EXPECT_EQ(encode_float(tiny, format, saturate), 0u) << each.name << ' ' << tiny;
        EXPECT_EQ(encode_float(-tiny, format, saturate), sign) << each.name << ' ' << tiny;
      }
      EXPECT_EQ(encode_float(std::nextafter(smallest / 2, 1.0), format, saturate), 1u);
    }
    int nans = 0;
    for (uint32_t code = 0; code < (1u << each.bits); ++code) {
      nans += std::isnan(decode_float(code, format));
    }
    const int of_ieee = 2 * ((1 << format.mantissa_bits) - 1);
    constexpr int kOfOthers[] = {0, 2, 1, 0};
    EXPECT_EQ(nans, format.special == FloatFormat::Special::kIeee
                        ? of_ieee
                        : kOfOthers[static_cast<int>(format.special)])
        << each.name;
  }
}

// Doubles just beside a tie that float would round onto the tie, for every pair of neighbours.
TEST(Numeric, DoublesAreRoundedOnce) {
  for (const Named& each : {kFormats[0], kFormats[1]}) {
    const auto from = [&](double value) -> uint32_t {
      return each.bits == 16 && each.format.exponent_bits == 5 ? Float16::from(value).bits
                                                               : Bfloat16::from(value).bits;
    };
    for (uint32_t code = 0; code < each.format.largest_code(); ++code) {
      const double a = decode_float(code, each.format);
      const double b = decode_float(code + 1, each.format);
      const double middle = (a + b) / 2;
      const double step = (b - a) * 0x1p-20;  // below what float resolves between normal numbers
      ASSERT_EQ(from(middle - step), code) << each.name;
      ASSERT_EQ(from(middle + step), code + 1) << each.name;
      ASSERT_EQ(from(middle), code % 2 == 0 ? code : code + 1) << each.name;
    }
  }
  EXPECT_EQ(Float16::from(static_cast<double>(1.0f + 0x1p-11f) + 0x1p-40).bits, 0x3c01);
  EXPECT_EQ(Float16::from(1.0f + 0x1p-11f).bits, 0x3c00);
  EXPECT_EQ(Bfloat16::from(1.0 + 0x1p-8 + 0x1p-40).bits, 0x3f81);
  EXPECT_EQ(Bfloat16::from(1.0f + 0x1p-8f).bits, 0x3f80);
  EXPECT_EQ(Float16::from(65520.0 - 0x1p-30).bits, 0x7bff);
  EXPECT_EQ(Float16::from(65520.0).bits, 0x7c00);
}

TEST(Numeric, NansKeepTheirSign) {
  for (uint32_t sign : {0u, 0x80000000u}) {
    for (uint32_t payload : {1u, 0x1fffu, 0x2000u, 0x400000u, 0x7fffffu}) {
      const float nan = std::bit_cast<float>(sign | 0x7f800000u | payload);
      EXPECT_TRUE(std::isnan(static_cast<float>(Float16::from(nan))));
      EXPECT_TRUE(std::isnan(static_cast<float>(Bfloat16::from(nan))));
      EXPECT_EQ(Float16::from(nan).bits >> 15, sign >> 31);
      EXPECT_EQ(Bfloat16::from(nan).bits >> 15, sign >> 31);
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

// Against a slow model: the nearest power of two by the rule, for values all over the range.
TEST(Numeric, E8M0AgreesWithASlowModel) {
  for (int exponent = -130; exponent <= 130; ++exponent) {
    for (double fraction : {1.0, 1.0 + 0x1p-50, 1.25, 1.5 - 0x1p-50, 1.5, 1.75, 2.0 - 0x1p-50}) {
      const double value = std::ldexp(fraction, exponent);
      for (auto rounding : {E8M0Rounding::kUp, E8M0Rounding::kDown, E8M0Rounding::kNearest}) {
        const bool up = rounding == E8M0Rounding::kUp
                            ? fraction > 1
                            : rounding == E8M0Rounding::kNearest && fraction >= 1.5;
        const int code = exponent + (up ? 1 : 0) + 127;
        const bool in_range = exponent >= -127 && code <= 254;
        const int saturated = exponent < -127 ? 0 : 254;
        EXPECT_EQ(Float8E8M0::from(value, true, rounding).bits, in_range ? code : saturated);
        EXPECT_EQ(Float8E8M0::from(-value, false, rounding).bits, in_range ? code : 0xff)
            << fraction << " * 2^" << exponent;
      }
    }
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Float8E8M0::from(nan, true).bits, 0xff);
  EXPECT_TRUE(std::isnan(static_cast<float>(Float8E8M0{0xff})));
}

// Every byte, and every start and length inside a few bytes.
TEST(Numeric, PackedCodesOfEveryByte) {
  for (int bits : {2, 4}) {
    const int per_byte = 8 / bits;
    std::vector<uint8_t> bytes(256);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
    const int64_t count = static_cast<int64_t>(bytes.size()) * per_byte;
    std::vector<uint8_t> codes(static_cast<size_t>(count));
    unpack_codes(bytes.data(), 0, count, bits, codes.data());
    for (int64_t i = 0; i < count; ++i) {
      const auto k = static_cast<size_t>(i);
      ASSERT_EQ(codes[k], bytes[k / per_byte] >> (k % per_byte * bits) & ((1 << bits) - 1));
      ASSERT_EQ(codes[k], load_code(bytes.data(), i, bits));
    }
    std::vector<uint8_t> packed(bytes.size(), 0xa5);
    pack_codes(codes.data(), 0, count, bits, packed.data());
    EXPECT_EQ(packed, bytes);
    for (int64_t begin = 0; begin <= 8; begin += per_byte) {
      for (int64_t n = 0; n <= 9; ++n) {
        std::vector<uint8_t> part(16, 0xff);
        pack_codes(codes.data() + begin + 64, begin, n, bits, part.data());
        for (int64_t i = 0; i < 16 * per_byte; ++i) {
          const bool inside = i >= begin && i < begin + n;
          const int64_t end = (begin + n + per_byte - 1) / per_byte * per_byte;
          const bool padding = !inside && i >= begin && i < end;
          const int expected = inside    ? codes[static_cast<size_t>(i + 64)]
                               : padding ? 0
                                         : (1 << bits) - 1;
          ASSERT_EQ(load_code(part.data(), i, bits), expected) << begin << ' ' << n << ' ' << i;
        }
      }
    }
    for (int code = 0; code < (1 << bits); ++code) {
      const int value = sign_extend(static_cast<uint8_t>(code), bits);
      EXPECT_EQ(value, code < (1 << (bits - 1)) ? code : code - (1 << bits));
    }
  }
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

TEST(Numeric, TruncateLowBits) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (int value = -600; value <= 600; ++value) {
    const double toward_zero = value < 0 ? value - 0.75 : value + 0.75;
    EXPECT_EQ(truncate_low_bits(toward_zero), static_cast<uint8_t>(value & 0xff)) << value;
  }
  EXPECT_EQ(truncate_low_bits(0x1p60 + 0x1p8), 0);
  EXPECT_EQ(truncate_low_bits(0x1p52 + 5), 5);
  EXPECT_EQ(truncate_low_bits(-0x1p52 - 1), 0xff);
  for (double value : {0x1p61, 0x1p63, 0x1p64, 1e300, kInfinity}) {
    EXPECT_EQ(truncate_low_bits(value), 0);
    EXPECT_EQ(truncate_low_bits(-value), 0);
  }
  EXPECT_EQ(truncate_low_bits(std::numeric_limits<double>::quiet_NaN()), 0);
}

}  // namespace
}  // namespace sardonyx
