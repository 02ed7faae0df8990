#include <charconv>
#include <cmath>
#include <limits>

#include "ops/elementwise/convert.h"

namespace sardonyx {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// from_chars of a floating type knows "inf" and "nan" in any case, but no '+'.
template <typename T>
bool parse_float(std::string_view text, T& value) {
  text = trim(text);
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::invalid_argument || stop != end) return false;
  if (error == std::errc::result_out_of_range) {
    const bool negative = text.starts_with('-');
    const bool tiny = text.find("e-") != text.npos || text.find("E-") != text.npos ||
                      text.find_first_of("123456789") > text.find('.');
    const T magnitude = tiny ? T{0} : std::numeric_limits<T>::infinity();
    value = negative ? -magnitude : magnitude;
  }
  return true;
}

// Significant digits (without a point) and the power of ten of the first one.
struct Digits {
  std::string digits;
  int exponent = 0;
};

Digits split_scientific(std::string_view text) {
  Digits result;
  const size_t e = text.find('e');
  for (char c : text.substr(0, e)) {
    if (c != '.') result.digits += c;
  }
  while (result.digits.size() > 1 && result.digits.back() == '0') result.digits.pop_back();
  std::string_view power = text.substr(e + 1);
  if (power.starts_with('+')) power.remove_prefix(1);
  std::from_chars(power.data(), power.data() + power.size(), result.exponent);
  return result;
}

Digits shortest_digits(double magnitude, DataType type) {
  char buffer[64];
  std::to_chars_result end{};
  constexpr auto kFormat = std::chars_format::scientific;
  if (type == DataType::kDouble) {
    end = std::to_chars(buffer, buffer + sizeof(buffer), magnitude, kFormat);
  } else if (type == DataType::kFloat16) {
    // The fewest digits that round to the same float16; five always do.
    for (int precision = 0; precision <= 4; ++precision) {
      end = std::to_chars(buffer, buffer + sizeof(buffer), magnitude, kFormat, precision);
      double back = 0;
      std::from_chars(buffer, end.ptr, back);
      if (Float16::from(back).bits == Float16::from(magnitude).bits) break;
    }
  } else {
    end = std::to_chars(buffer, buffer + sizeof(buffer), static_cast<float>(magnitude), kFormat);
  }
  return split_scientific({buffer, static_cast<size_t>(end.ptr - buffer)});
}

}  // namespace

std::string format_number(double value, DataType type) {
  if (std::isnan(value)) return "nan";
  const std::string sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return sign + "inf";
  if (value == 0) return sign + "0.0";
  const double magnitude = std::fabs(value);
  Digits number = shortest_digits(magnitude, type);
  std::string& digits = number.digits;
  // numpy's bounds of the plain notation.
  if (magnitude < 1e-4 || magnitude >= (type == DataType::kFloat16 ? 1e3 : 1e16)) {
    std::string text = sign + digits[0];
    if (digits.size() > 1) text += '.' + digits.substr(1);
    text += number.exponent < 0 ? "e-" : "e+";
    const std::string power = std::to_string(std::abs(number.exponent));
    return text + (power.size() < 2 ? "0" : "") + power;
  }
  if (number.exponent < 0) {
    return sign + "0." + std::string(static_cast<size_t>(-number.exponent - 1), '0') + digits;
  }
  const auto whole = static_cast<size_t>(number.exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + '.' + digits.substr(whole);
}

bool parse_number(const std::string& text, double& value) { return parse_float(text, value); }
bool parse_number(const std::string& text, float& value) { return parse_float(text, value); }

bool parse_number(const std::string& text, int64_t& value) {
  std::string_view digits = trim(text);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error == std::errc() && stop == end) return true;
  uint64_t large = 0;
  const auto [large_stop, large_error] = std::from_chars(digits.data(), end, large);
  if (large_error == std::errc() && large_stop == end) {
    value = static_cast<int64_t>(large);
    return true;
  }
  double decimal = 0;
  if (!parse_float(std::string_view(text), decimal)) return false;
  value = truncate_saturate<int64_t>(decimal);
  return true;
}

}  // namespace sardonyx
