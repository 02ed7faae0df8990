// Numeric storage types narrower than float: float16, bfloat16, the four float8, float8e8m0, and
// the packed 4- and 2-bit types. Conversions round to nearest, ties to even, and follow the
// saturate rules of the standard's Cast: out of range gives the largest value when saturating, else
// infinity, or NaN where there is none. Arithmetic is done in float by whoever uses them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tensor/data_type.h"

namespace sardonyx {

// A binary format of at most 16 bits: sign, exponent, mantissa.
struct FloatFormat {
  enum class Special : uint8_t {
    kIeee,    // all-ones exponent: infinity and NaN
    kNoInf,   // NaN is all ones behind the sign, no infinity ("fn")
    kNoSign,  // NaN takes the place of -0, no infinity ("fnuz")
    kNone     // every code is a number
  };
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Special special;

  constexpr uint32_t sign_code() const { return 1u << (exponent_bits + mantissa_bits); }
  constexpr uint32_t infinity_code() const {
    return ((1u << exponent_bits) - 1) << mantissa_bits;  // kIeee only
  }
  constexpr uint32_t nan_code() const {
    if (special == Special::kIeee) return infinity_code() | (1u << (mantissa_bits - 1));
    return special == Special::kNoSign ? sign_code() : sign_code() - 1;
  }
  constexpr uint32_t largest_code() const {
    if (special == Special::kIeee) return infinity_code() - 1;
    return special == Special::kNoInf ? sign_code() - 2 : sign_code() - 1;
  }
};

inline constexpr FloatFormat kFloat16Format = {5, 10, 15, FloatFormat::Special::kIeee};
inline constexpr FloatFormat kBfloat16Format = {8, 7, 127, FloatFormat::Special::kIeee};
inline constexpr FloatFormat kFloat8E4M3FNFormat = {4, 3, 7, FloatFormat::Special::kNoInf};
inline constexpr FloatFormat kFloat8E4M3FNUZFormat = {4, 3, 8, FloatFormat::Special::kNoSign};
inline constexpr FloatFormat kFloat8E5M2Format = {5, 2, 15, FloatFormat::Special::kIeee};
inline constexpr FloatFormat kFloat8E5M2FNUZFormat = {5, 2, 16, FloatFormat::Special::kNoSign};
inline constexpr FloatFormat kFloat4E2M1Format = {2, 1, 1, FloatFormat::Special::kNone};

// The code of `value`; NaN has no code in a kNone format and gives -0.
uint32_t encode_float(double value, const FloatFormat& format, bool saturate);

// The value of a code; exact for every format above.
constexpr float decode_float(uint32_t code, const FloatFormat& format) {
  using Special = FloatFormat::Special;
  const uint32_t sign = (code & format.sign_code()) != 0 ? 0x80000000u : 0u;
  const uint32_t magnitude = code & (format.sign_code() - 1);
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  if (format.special == Special::kNoSign && code == format.nan_code()) return kNan;
  if (format.special == Special::kNoInf && magnitude == format.nan_code()) {
    return std::bit_cast<float>(sign | 0x7fc00000u);
  }
  if (format.special == Special::kIeee && magnitude >= format.infinity_code()) {
    const uint32_t payload = (magnitude - format.infinity_code()) << (23 - format.mantissa_bits);
    return std::bit_cast<float>(sign | 0x7f800000u | payload);
  }
  const uint32_t exponent = magnitude >> format.mantissa_bits;
  if (exponent != 0 || format.exponent_bits == 8) {
    const auto rebias = static_cast<uint32_t>(127 - format.bias);
    return std::bit_cast<float>(sign |
                                ((magnitude << (23 - format.mantissa_bits)) + (rebias << 23)));
  }
  // Subnormal: an integer times the smallest quantum, a power of two that float holds as normal.
  const auto quantum = static_cast<uint32_t>(127 + 1 - format.bias - format.mantissa_bits);
  const float result = static_cast<float>(magnitude) * std::bit_cast<float>(quantum << 23);
  return sign != 0 ? -result : result;
}

struct Float16 {
  uint16_t bits;

  operator float() const { return decode_float(bits, kFloat16Format); }
  static Float16 from(float value) {
    const uint32_t x = std::bit_cast<uint32_t>(value);
    const uint32_t sign = (x >> 16) & 0x8000u;
    uint32_t magnitude = x & 0x7fffffffu;
    if (magnitude >= 0x47800000u) {  // 65536 and above, infinity, NaN
      const bool nan = magnitude > 0x7f800000u;
      return {
          static_cast<uint16_t>(sign | (nan ? 0x7e00u | ((magnitude >> 13) & 0x3ffu) : 0x7c00u))};
    }
    if (magnitude < 0x38800000u) {  // subnormal or zero: let the adder round
      const float sum = std::bit_cast<float>(magnitude) + 0.5f;
      return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(sum) - 0x3f000000u))};
    }
    magnitude += 0xc8000fffu + ((magnitude >> 13) & 1u);
    return {static_cast<uint16_t>(sign | (magnitude >> 13))};
  }
  static Float16 from(double value) {
    return {static_cast<uint16_t>(encode_float(value, kFloat16Format, false))};
  }
};

struct Bfloat16 {
  uint16_t bits;

  operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
  static Bfloat16 from(float value) {
    const uint32_t x = std::bit_cast<uint32_t>(value);
    if ((x & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>((x >> 16) | 0x40u)};
    return {static_cast<uint16_t>((x + 0x7fffu + ((x >> 16) & 1u)) >> 16)};
  }
  static Bfloat16 from(double value) {
    return {static_cast<uint16_t>(encode_float(value, kBfloat16Format, false))};
  }
};

// The four formats of 8 bits with a sign.
template <const FloatFormat& kFormat>
struct Float8 {
  uint8_t bits;

  operator float() const { return decode_float(bits, kFormat); }
  static Float8 from(double value, bool saturate = true) {
    return {static_cast<uint8_t>(encode_float(value, kFormat, saturate))};
  }
};
using Float8E4M3FN = Float8<kFloat8E4M3FNFormat>;
using Float8E4M3FNUZ = Float8<kFloat8E4M3FNUZFormat>;
using Float8E5M2 = Float8<kFloat8E5M2Format>;
using Float8E5M2FNUZ = Float8<kFloat8E5M2FNUZFormat>;

enum class E8M0Rounding : uint8_t { kUp, kDown, kNearest };  // kNearest: ties go up

// Powers of two from 2^-127 to 2^127; 0xff is NaN. No sign and no zero: the sign of a value is
// dropped, zero counts as below the smallest.
struct Float8E8M0 {
  uint8_t bits;

  operator float() const {
    if (bits == 0xff) return std::numeric_limits<float>::quiet_NaN();
    return std::bit_cast<float>(bits == 0 ? 0x00400000u : uint32_t{bits} << 23);
  }
  static Float8E8M0 from(double value, bool saturate = true,
                         E8M0Rounding rounding = E8M0Rounding::kUp);
};

// Sub-byte types are packed from the low bits up: element i of a 4-bit tensor is the low half of
// byte i / 2 when i is even. A *code* is the element's bits in an uint8_t.
inline uint8_t load_code(const uint8_t* data, int64_t i, int bits) {
  const int64_t per_byte = 8 / bits;
  const auto shift = static_cast<int>(i % per_byte) * bits;
  return static_cast<uint8_t>((data[i / per_byte] >> shift) & ((1 << bits) - 1));
}
// Not for concurrent use on elements of one byte.
inline void store_code(uint8_t* data, int64_t i, int bits, uint8_t code) {
  const int64_t per_byte = 8 / bits;
  const auto shift = static_cast<int>(i % per_byte) * bits;
  const int mask = ((1 << bits) - 1) << shift;
  uint8_t& byte = data[i / per_byte];
  byte = static_cast<uint8_t>((byte & ~mask) | ((code << shift) & mask));
}
// Codes of elements [begin, begin + count) to one byte each, and back. pack writes whole bytes: the
// unused bits of the last byte become zero; `begin` must be a multiple of 8 / bits.
void unpack_codes(const uint8_t* packed, int64_t begin, int64_t count, int bits, uint8_t* codes);
void pack_codes(const uint8_t* codes, int64_t begin, int64_t count, int bits, uint8_t* packed);

// Two's complement value of a code.
inline int sign_extend(uint8_t code, int bits) {
  const int sign = 1 << (bits - 1);
  return (code ^ sign) - sign;
}

// float -> integer of 8 bits and more as every Cast does it: truncate, saturate, NaN gives 0.
template <typename Int>
Int truncate_saturate(double value) {
  constexpr double kLow = static_cast<double>(std::numeric_limits<Int>::min());
  // 2^digits: exact, one above the largest.
  constexpr double kHigh =
      2.0 * static_cast<double>(uint64_t{1} << (std::numeric_limits<Int>::digits - 1));
  if (!(value > kLow)) return value != value ? Int{0} : std::numeric_limits<Int>::min();
  if (value >= kHigh) return std::numeric_limits<Int>::max();
  return static_cast<Int>(value);
}

// float -> 4- or 2-bit integer as every Cast does it: truncate, keep the low bits of the two's
// complement; NaN and infinity give 0. The result holds 8 of them.
inline uint8_t truncate_low_bits(double value) {
  // From 2^61 on the low 8 bits are zero; the comparison is false for NaN.
  if (!(std::fabs(value) < 0x1p61)) return 0;
  return static_cast<uint8_t>(static_cast<int64_t>(value));
}

}  // namespace sardonyx
