#include "ir/text_element.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "ir/text_lexer.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

// Layout of a float of at most 16 bits. Codes 0..max_code are the finite magnitudes, in order.
struct SmallFloat {
  int mantissa_bits;
  int bias;
  uint32_t sign;      // the sign bit; 0: unsigned
  uint32_t max_code;  // of the largest finite magnitude
  uint32_t infinity;  // 0: none
  uint32_t nan;       // the canonical one; 0: none
  bool negative_zero;
};

const SmallFloat* small_float(DataType type) {
  static constexpr SmallFloat kFloat16{10, 15, 0x8000, 0x7bff, 0x7c00, 0x7e00, true};
  static constexpr SmallFloat kBfloat16{7, 127, 0x8000, 0x7f7f, 0x7f80, 0x7fc0, true};
  static constexpr SmallFloat kE4M3FN{3, 7, 0x80, 0x7e, 0, 0x7f, true};
  static constexpr SmallFloat kE4M3FNUZ{3, 8, 0x80, 0x7f, 0, 0x80, false};
  static constexpr SmallFloat kE5M2{2, 15, 0x80, 0x7b, 0x7c, 0x7e, true};
  static constexpr SmallFloat kE5M2FNUZ{2, 16, 0x80, 0x7f, 0, 0x80, false};
  static constexpr SmallFloat kE2M1{1, 1, 0x8, 0x7, 0, 0, true};
  switch (type) {
    case DataType::kFloat16:
      return &kFloat16;
    case DataType::kBfloat16:
      return &kBfloat16;
    case DataType::kFloat8E4M3FN:
      return &kE4M3FN;
    case DataType::kFloat8E4M3FNUZ:
      return &kE4M3FNUZ;
    case DataType::kFloat8E5M2:
      return &kE5M2;
    case DataType::kFloat8E5M2FNUZ:
      return &kE5M2FNUZ;
    case DataType::kFloat4E2M1:
      return &kE2M1;
    default:
      return nullptr;
  }
}

double magnitude(const SmallFloat& format, uint32_t code) {
  const uint32_t mantissa = code & ((1u << format.mantissa_bits) - 1);
  const int exponent = static_cast<int>(code >> format.mantissa_bits);
  if (exponent == 0) return std::ldexp(mantissa, 1 - format.bias - format.mantissa_bits);
  return std::ldexp(mantissa + (1u << format.mantissa_bits),
                    exponent - format.bias - format.mantissa_bits);
}

[[noreturn]] void bad(std::string_view token, DataType type, const char* why) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' {} {}", token, why, name_of(type)));
}

std::optional<uint64_t> parse_hex(std::string_view token) {
  if (token.substr(0, 2) != "0x" && token.substr(0, 2) != "0X") return std::nullopt;
  uint64_t bits = 0;
  const auto [end, status] =
      std::from_chars(token.data() + 2, token.data() + token.size(), bits, 16);
  if (status != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return bits;
}

template <typename T>
T parse_real(std::string_view token, DataType type) {
  std::string_view digits = token;
  const bool negative = !digits.empty() && digits[0] == '-';
  if (negative || (!digits.empty() && digits[0] == '+')) digits.remove_prefix(1);
  T value;
  if (digits == "inf" || digits == "infinity") {
    value = std::numeric_limits<T>::infinity();
  } else if (digits == "nan") {
    value = std::numeric_limits<T>::quiet_NaN();
  } else {
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    // Out of range is an underflow or an overflow: strtod's answers (0, infinity) are what is
    // meant.
    if (status == std::errc::result_out_of_range) {
      value = static_cast<T>(std::strtod(std::string(digits).c_str(), nullptr));
    } else if (status != std::errc() || end != digits.data() + digits.size()) {
      bad(token, type, "is no number of type");
    }
  }
  return negative ? -value : value;
}

// Integer text as 64 bits; checks that it fits `bits` bits, signed or not. Hexadecimal gives the
// bits.
uint64_t parse_integer(std::string_view token, DataType type, int bits, bool is_signed) {
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  if (const auto hex = parse_hex(token)) {
    if ((*hex & ~mask) != 0) bad(token, type, "has more bits than");
    return *hex;
  }
  std::string_view digits = token;
  const bool negative = !digits.empty() && digits[0] == '-';
  if (negative || (!digits.empty() && digits[0] == '+')) digits.remove_prefix(1);
  uint64_t value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status == std::errc::result_out_of_range) bad(token, type, "lies outside the range of");
  if (status != std::errc() || end != digits.data() + digits.size()) {
    bad(token, type, "is no number of type");
  }
  const uint64_t limit = is_signed ? (mask >> 1) + (negative ? 1 : 0) : (negative ? 0 : mask);
  if (value > limit) bad(token, type, "lies outside the range of");
  return (negative ? ~value + 1 : value) & mask;
}

bool is_signed_integer(DataType type) {
  return type == DataType::kInt8 || type == DataType::kInt16 || type == DataType::kInt32 ||
         type == DataType::kInt64 || type == DataType::kInt4 || type == DataType::kInt2;
}

// Bits of element i; widths below 8 are packed, first element in the low bits.
uint64_t load_bits(const Tensor& tensor, int64_t i) {
  const int bits = bits_of(tensor.type());
  const auto* bytes = tensor.data<uint8_t>();
  if (bits < 8) {
    const int64_t per_byte = 8 / bits;
    return (bytes[i / per_byte] >> (i % per_byte * bits)) & ((1u << bits) - 1);
  }
  uint64_t value = 0;
  std::memcpy(&value, bytes + i * (bits / 8), static_cast<size_t>(bits / 8));
  return value;
}

void store_bits(Tensor& tensor, int64_t i, uint64_t value) {
  const int bits = bits_of(tensor.type());
  auto* bytes = tensor.data<uint8_t>();
  if (bits < 8) {
    const int64_t per_byte = 8 / bits;
    const int shift = static_cast<int>(i % per_byte) * bits;
    const unsigned keep = shift == 0 ? 0u : ~(~0u << shift);  // later elements are still to come
    bytes[i / per_byte] = static_cast<uint8_t>((bytes[i / per_byte] & keep) |
                                               (static_cast<unsigned>(value) << shift));
    return;
  }
  std::memcpy(bytes + i * (bits / 8), &value, static_cast<size_t>(bits / 8));
}

template <typename T>
std::string print_real(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return fmt::format("{}", value);
}

template <typename T, typename Bits>
std::string print_real_at(const T* data, int64_t i) {
  Bits bits;
  std::memcpy(&bits, data + i, sizeof(T));
  Bits canonical;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  std::memcpy(&canonical, &nan, sizeof(T));
  if (std::isnan(data[i]) && bits != canonical) return fmt::format("0x{:x}", bits);
  return print_real(data[i]);
}

}  // namespace

int numbers_per_element(DataType type) {
  return type == DataType::kComplex64 || type == DataType::kComplex128 ? 2 : 1;
}

double decode_small_float(DataType type, uint32_t bits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (type == DataType::kFloat8E8M0) {
    return bits == 0xff ? nan : std::ldexp(1.0, static_cast<int>(bits) - 127);
  }
  const SmallFloat& format = *small_float(type);
  if (!format.negative_zero && bits == format.nan) return nan;
  const uint32_t code = bits & ~format.sign;
  const double sign = (bits & format.sign) != 0 ? -1.0 : 1.0;
  if (code <= format.max_code) return sign * magnitude(format, code);
  if (format.infinity != 0 && code == format.infinity) {
    return sign * std::numeric_limits<double>::infinity();
  }
  return nan;
}

uint32_t encode_small_float(DataType type, double value) {
  if (type == DataType::kFloat8E8M0) {
    if (std::isnan(value) || value <= 0 || std::isinf(value)) return 0xff;
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);  // in [0.5, 1)
    if (fraction > 0.75) ++exponent;
    const int code = exponent - 1 + 127;
    return code < 0 ? 0 : code > 254 ? 0xff : static_cast<uint32_t>(code);
  }
  const SmallFloat& format = *small_float(type);
  if (std::isnan(value)) return format.nan;
  const uint32_t sign = std::signbit(value) ? format.sign : 0;
  const double wanted = std::fabs(value);
  uint32_t low = 0;
  uint32_t high = format.max_code + 1;  // one step past the largest: where rounding overflows
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (magnitude(format, middle) <= wanted ? low : high) = middle;
  }
  const double below = wanted - magnitude(format, low);
  const double above = magnitude(format, high) - wanted;
  const uint32_t code = below < above || (below == above && low % 2 == 0) ? low : high;
  if (code > format.max_code) {
    if (format.infinity != 0) return sign | format.infinity;
    return format.nan != 0 ? format.nan : sign | format.max_code;
  }
  if (code == 0 && !format.negative_zero) return 0;
  return sign | code;
}

void parse_element(Tensor& tensor, int64_t i, std::string_view token) {
  const DataType type = tensor.type();
  const int width = type == DataType::kComplex64    ? 32
                    : type == DataType::kComplex128 ? 64
                                                    : bits_of(type);
  if (type == DataType::kBool) {
    if (token != "0" && token != "1" && token != "true" && token != "false") {
      bad(token, type, "is no number of type");
    }
    tensor.data<uint8_t>()[i] = token == "1" || token == "true";
  } else if (is_integer(type)) {
    store_bits(tensor, i, parse_integer(token, type, width, is_signed_integer(type)));
  } else if (const auto hex = parse_hex(token)) {
    if (width < 64 && (*hex >> width) != 0) bad(token, type, "has more bits than");
    if (width == 32) {
      std::memcpy(tensor.data<uint32_t>() + i, &*hex, 4);
    } else if (width == 64) {
      std::memcpy(tensor.data<uint64_t>() + i, &*hex, 8);
    } else {
      store_bits(tensor, i, *hex);
    }
  } else if (width == 32) {
    tensor.data<float>()[i] = parse_real<float>(token, type);
  } else if (width == 64) {
    tensor.data<double>()[i] = parse_real<double>(token, type);
  } else {
    const double value = parse_real<double>(token, type);
    const uint32_t bits = encode_small_float(type, value);
    const double stored = decode_small_float(type, bits);
    if (std::isfinite(value) != std::isfinite(stored) || std::isnan(value) != std::isnan(stored) ||
        (type == DataType::kFloat4E2M1 && std::fabs(value) > 7)) {
      bad(token, type, "lies outside the range of");
    }
    store_bits(tensor, i, bits);
  }
}

std::string print_element(const Tensor& tensor, int64_t i) {
  const DataType type = tensor.type();
  switch (type) {
    case DataType::kString:
      return quote_string(tensor.data<std::string>()[i]);
    case DataType::kFloat:
    case DataType::kComplex64:
      return print_real_at<float, uint32_t>(tensor.data<float>(), i);
    case DataType::kDouble:
    case DataType::kComplex128:
      return print_real_at<double, uint64_t>(tensor.data<double>(), i);
    default:
      break;
  }
  const uint64_t bits = load_bits(tensor, i);
  if (is_signed_integer(type)) {
    const int unused = 64 - bits_of(type);
    return fmt::format("{}", static_cast<int64_t>(bits << unused) >> unused);
  }
  if (!is_floating(type)) return fmt::format("{}", bits);
  const double value = decode_small_float(type, static_cast<uint32_t>(bits));
  if (std::isnan(value) && encode_small_float(type, value) != bits) {
    return fmt::format("0x{:x}", bits);
  }
  return print_real(static_cast<float>(value));
}

std::string print_float(float value) { return print_real(value); }

bool is_type_word(std::string_view word) {
  return parse_data_type(word).has_value() || word == "seq" || word == "optional" ||
         word == "map" || word == "sparse" || word == "sparse_tensor";
}

}  // namespace sardonyx
