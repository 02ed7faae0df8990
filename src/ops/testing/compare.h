// Compares a tensor with what was expected. Used by operator tests.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>

#include "ops/elementwise/convert.h"
#include "tensor/tensor.h"

namespace sardonyx {

inline bool is_close(double actual, double expected, double relative, double absolute) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (actual == expected) return true;
  return std::isfinite(expected) &&
         std::fabs(actual - expected) <= absolute + relative * std::fabs(expected);
}

// What differs, or nothing.
inline std::optional<std::string> difference(const Tensor& actual, const Tensor& expected,
                                             double relative, double absolute) {
  if (actual.type() != expected.type() || !(actual.shape() == expected.shape())) {
    return fmt::format("is {}{}, expected {}{}", name_of(actual.type()), to_string(actual.shape()),
                       name_of(expected.type()), to_string(expected.shape()));
  }
  const DataType type = expected.type();
  for (int64_t i = 0; i < expected.size(); ++i) {
    std::string found;
    std::string wanted;
    if (type == DataType::kString) {
      found = actual.data<std::string>()[i];
      wanted = expected.data<std::string>()[i];
      if (found == wanted) continue;
    } else if (type == DataType::kComplex64 || type == DataType::kComplex128) {
      bool same = true;
      for (int64_t part = 2 * i; part < 2 * i + 2; ++part) {
        const bool small = type == DataType::kComplex64;
        const double a = small ? actual.data<float>()[part] : actual.data<double>()[part];
        const double e = small ? expected.data<float>()[part] : expected.data<double>()[part];
        same = same && is_close(a, e, relative, absolute);
        found += fmt::format("{} ", a);
        wanted += fmt::format("{} ", e);
      }
      if (same) continue;
    } else if (is_floating(type)) {
      double a = 0;
      double e = 0;
      load_double(type, actual.raw(), i, 1, &a);
      load_double(type, expected.raw(), i, 1, &e);
      if (is_close(a, e, relative, absolute)) continue;
      found = fmt::format("{}", a);
      wanted = fmt::format("{}", e);
    } else {
      int64_t a = 0;
      int64_t e = 0;
      load_int64(type, actual.raw(), i, 1, &a);
      load_int64(type, expected.raw(), i, 1, &e);
      if (a == e) continue;
      found = fmt::format("{}", a);
      wanted = fmt::format("{}", e);
    }
    return fmt::format("element {} of {}{} is {}, expected {}", i, name_of(type),
                       to_string(expected.shape()), found, wanted);
  }
  return std::nullopt;
}

}  // namespace sardonyx
