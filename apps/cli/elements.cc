#include "elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace sardonyx::cli {
namespace {

struct Half {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};

template <typename T>
double decode(T element) {
  return static_cast<double>(element);
}
template <>
double decode(Half element) {
  return decode_half(element.bits);
}
template <>
double decode(Bfloat16 element) {
  return decode_bfloat16(element.bits);
}

template <typename T>
T encode(double value) {
  if constexpr (std::is_same_v<T, Half>) {
    return Half{encode_half(value)};
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return Bfloat16{encode_bfloat16(value)};
  } else if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    if (std::isnan(value)) return 0;
    // The largest 64-bit values have no double: comparing with the next power of two is exact.
    if (value >= std::ldexp(1.0, std::numeric_limits<T>::digits)) {
      return std::numeric_limits<T>::max();
    }
    if (value <= static_cast<double>(std::numeric_limits<T>::min())) {
      return std::numeric_limits<T>::min();
    }
    return static_cast<T>(value);
  }
}

// Calls function(T()) with the C++ type of the elements; false for types that have none.
template <typename Function>
bool with_type(ElementType type, Function function) {
  switch (type) {
    case ElementType::kFloat:
      function(float());
      return true;
    case ElementType::kDouble:
      function(double());
      return true;
    case ElementType::kFloat16:
      function(Half());
      return true;
    case ElementType::kBfloat16:
      function(Bfloat16());
      return true;
    case ElementType::kBool:
      function(bool());
      return true;
    case ElementType::kInt8:
      function(int8_t());
      return true;
    case ElementType::kInt16:
      function(int16_t());
      return true;
    case ElementType::kInt32:
      function(int32_t());
      return true;
    case ElementType::kInt64:
      function(int64_t());
      return true;
    case ElementType::kUint8:
      function(uint8_t());
      return true;
    case ElementType::kUint16:
      function(uint16_t());
      return true;
    case ElementType::kUint32:
      function(uint32_t());
      return true;
    case ElementType::kUint64:
      function(uint64_t());
      return true;
    default:
      return false;
  }
}

[[noreturn]] void refuse(ElementType type) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("elements of type {} have no plain number", to_string(type)));
}

}  // namespace

double decode_half(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int fraction = bits & 0x3ff;
  double magnitude;
  if (exponent == 0x1f) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(fraction + 0x400, exponent - 25);
  }
  return bits & 0x8000 ? -magnitude : magnitude;
}

uint16_t encode_half(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00;
  if (magnitude == 0) return sign;
  if (magnitude >= 65520) return sign | 0x7c00;
  // One unit in the last place at this magnitude; nearbyint rounds to even.
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int unit = std::max(exponent - 11, -24);
  const auto steps = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
  // A carry out of the fraction moves into the exponent field, as it should.
  return static_cast<uint16_t>(sign | (steps + (static_cast<uint32_t>(unit + 24) << 10)));
}

double decode_bfloat16(uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits) << 16));
}

uint16_t encode_bfloat16(double value) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

bool has_doubles(ElementType type) {
  return with_type(type, [](auto) {});
}

std::vector<double> to_doubles(const Value& value) {
  std::vector<double> elements(value.size());
  const bool known = with_type(value.element_type(), [&](auto sample) {
    const auto* data = static_cast<const decltype(sample)*>(value.data());
    for (size_t i = 0; i < elements.size(); ++i) elements[i] = decode(data[i]);
  });
  if (!known) refuse(value.element_type());
  return elements;
}

void set_from_doubles(Value& value, std::span<const double> elements) {
  const size_t count = std::min(elements.size(), value.size());
  const bool known = with_type(value.element_type(), [&](auto sample) {
    using T = decltype(sample);
    auto* data = static_cast<T*>(value.data());
    for (size_t i = 0; i < count; ++i) data[i] = encode<T>(elements[i]);
  });
  if (!known) refuse(value.element_type());
}

std::string describe(const Value& value) {
  switch (value.kind()) {
    case ValueKind::kNone:
      return "empty";
    case ValueKind::kSequence:
      return fmt::format("sequence of {}", value.items().size());
    case ValueKind::kOptional:
      return value.items().empty() ? "optional that holds nothing" : "optional";
    default:
      return fmt::format("{}[{}]", to_string(value.element_type()), fmt::join(value.shape(), ","));
  }
}

}  // namespace sardonyx::cli
