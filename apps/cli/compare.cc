#include "compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "elements.h"

namespace sardonyx::cli {
namespace {

// "[0,3,17]": where element `at` lies in a tensor of that shape.
std::string position(size_t at, std::span<const int64_t> shape) {
  std::vector<size_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = at % static_cast<size_t>(shape[d]);
    at /= static_cast<size_t>(shape[d]);
  }
  return fmt::format("[{}]", fmt::join(index, ","));
}

bool is_close(double actual, double expected, const Tolerance& tolerance) {
  if (std::isnan(actual) || std::isnan(expected)) return std::isnan(actual) == std::isnan(expected);
  if (std::isinf(actual) || std::isinf(expected)) return actual == expected;
  return std::fabs(actual - expected) <=
         tolerance.absolute + tolerance.relative * std::fabs(expected);
}

Comparison compare_numbers(const Value& actual, const Value& expected, const Tolerance& tolerance) {
  const std::vector<double> a = to_doubles(actual);
  const std::vector<double> e = to_doubles(expected);
  size_t wrong = 0;
  size_t first = 0;
  double largest = 0;
  double largest_relative = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!is_close(a[i], e[i], tolerance) && wrong++ == 0) first = i;
    const double error = std::fabs(a[i] - e[i]);
    if (!std::isfinite(error)) continue;
    largest = std::max(largest, error);
    if (e[i] != 0) largest_relative = std::max(largest_relative, error / std::fabs(e[i]));
  }
  const std::string errors =
      fmt::format("largest error {:.3g}, relative {:.3g}", largest, largest_relative);
  if (wrong == 0) return {true, errors};
  return {false,
          fmt::format("{} of {} elements differ, first {}: {:.9g}, expected {:.9g}; {}", wrong,
                      a.size(), position(first, expected.shape()), a[first], e[first], errors)};
}

Comparison compare_strings(const Value& actual, const Value& expected) {
  const auto a = actual.as<std::string>();
  const auto e = expected.as<std::string>();
  const auto [at, other] = std::mismatch(a.begin(), a.end(), e.begin());
  if (at == a.end()) return {true, "equal strings"};
  return {false, fmt::format("element {} is \"{}\", expected \"{}\"",
                             position(static_cast<size_t>(at - a.begin()), expected.shape()), *at,
                             *other)};
}

Comparison compare_items(const Value& actual, const Value& expected, const Tolerance& tolerance) {
  const std::vector<Value> a = actual.items();
  const std::vector<Value> e = expected.items();
  if (a.size() != e.size()) {
    return {false, fmt::format("is {}, expected {}", describe(actual), describe(expected))};
  }
  Comparison last = {true, describe(expected)};
  for (size_t i = 0; i < a.size() && last.is_equal; ++i) {
    last = compare(a[i], e[i], tolerance);
    last.summary = fmt::format("item {} of {}: {}", i, a.size(), last.summary);
  }
  return last;
}

}  // namespace

Comparison compare(const Value& actual, const Value& expected, const Tolerance& tolerance) {
  if (!actual.has_value() || !expected.has_value()) {
    const bool both = actual.has_value() == expected.has_value();
    return {both, actual.has_value() ? "a value, expected none" : both ? "none" : "no value"};
  }
  if (actual.kind() != expected.kind()) {
    return {false, fmt::format("is {}, expected {}", describe(actual), describe(expected))};
  }
  if (actual.kind() != ValueKind::kTensor) return compare_items(actual, expected, tolerance);
  if (actual.element_type() != expected.element_type() ||
      !std::ranges::equal(actual.shape(), expected.shape())) {
    return {false, fmt::format("is {}, expected {}", describe(actual), describe(expected))};
  }
  if (actual.element_type() == ElementType::kString) return compare_strings(actual, expected);
  if (has_doubles(actual.element_type())) return compare_numbers(actual, expected, tolerance);
  const bool same = actual.size_bytes() == 0 ||
                    std::memcmp(actual.data(), expected.data(), actual.size_bytes()) == 0;
  return {same, same ? "equal bytes" : "bytes differ"};
}

}  // namespace sardonyx::cli
