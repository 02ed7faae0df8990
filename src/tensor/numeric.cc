#include "tensor/numeric.h"

#include <algorithm>

namespace sardonyx {

uint32_t encode_float(double value, const FloatFormat& format, bool saturate) {
  using Special = FloatFormat::Special;
  const bool negative = std::signbit(value);
  const uint32_t sign = negative ? format.sign_code() : 0;
  if (std::isnan(value)) {
    if (format.special == Special::kNone) return format.sign_code();
    return format.special == Special::kNoSign ? format.nan_code() : sign | format.nan_code();
  }
  const auto overflow = [&]() -> uint32_t {
    if (saturate || format.special == Special::kNone) return sign | format.largest_code();
    if (format.special == Special::kIeee) return sign | format.infinity_code();
    return format.special == Special::kNoSign ? format.nan_code() : sign | format.nan_code();
  };
  if (std::isinf(value)) return overflow();
  // frexp gives zero the exponent of 0.5.
  if (value == 0) return format.special == Special::kNoSign ? 0 : sign;
  int exponent = 0;
  const double magnitude = std::fabs(value);
  std::frexp(magnitude, &exponent);  // magnitude = [0.5, 1) * 2^exponent
  const int scale = std::max(exponent - 1, 1 - format.bias);
  if (scale + format.bias > (1 << format.exponent_bits)) return overflow();
  const auto steps =
      static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - scale)));
  // A carry out of the mantissa goes into the exponent by itself.
  const uint32_t code =
      (static_cast<uint32_t>(scale + format.bias - 1) << format.mantissa_bits) + steps;
  if (code > format.largest_code()) return overflow();
  if (code == 0 && format.special == Special::kNoSign) return 0;
  return sign | code;
}

Float8E8M0 Float8E8M0::from(double value, bool saturate, E8M0Rounding rounding) {
  constexpr uint8_t kNan = 0xff;
  constexpr uint8_t kLargest = 0xfe;
  const double magnitude = std::fabs(value);
  if (std::isnan(magnitude)) return {kNan};
  if (std::isinf(magnitude)) return {saturate ? kLargest : kNan};
  if (magnitude < std::ldexp(1.0, -127)) {
    return {saturate ? uint8_t{0} : kNan};
  }
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);  // [0.5, 1)
  --exponent;
  const bool up = rounding == E8M0Rounding::kUp
                      ? fraction > 0.5
                      : rounding == E8M0Rounding::kNearest && fraction >= 0.75;
  if (up) ++exponent;
  if (exponent > 127) return {saturate ? kLargest : kNan};
  return {static_cast<uint8_t>(exponent + 127)};
}

void unpack_codes(const uint8_t* packed, int64_t begin, int64_t count, int bits, uint8_t* codes) {
  for (int64_t i = 0; i < count; ++i) codes[i] = load_code(packed, begin + i, bits);
}

void pack_codes(const uint8_t* codes, int64_t begin, int64_t count, int bits, uint8_t* packed) {
  const int64_t per_byte = 8 / bits;
  uint8_t* to = packed + begin / per_byte;
  for (int64_t i = 0; i < count; i += per_byte) {
    int byte = 0;
    for (int64_t j = 0; j < std::min(per_byte, count - i); ++j) {
      byte |= (codes[i + j] & ((1 << bits) - 1)) << (j * bits);
    }
    *to++ = static_cast<uint8_t>(byte);
  }
}

}  // namespace sardonyx
