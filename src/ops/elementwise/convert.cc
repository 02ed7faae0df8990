#include "ops/elementwise/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ops/elementwise/narrow.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

constexpr int64_t kBlock = 256;

// A type for every floating storage of one byte.
template <typename Visit>
bool visit_float8(DataType type, Visit&& visit) {
  switch (type) {
    case DataType::kFloat8E4M3FN:
      return visit(TypeTag<Float8E4M3FN>{}), true;
    case DataType::kFloat8E4M3FNUZ:
      return visit(TypeTag<Float8E4M3FNUZ>{}), true;
    case DataType::kFloat8E5M2:
      return visit(TypeTag<Float8E5M2>{}), true;
    case DataType::kFloat8E5M2FNUZ:
      return visit(TypeTag<Float8E5M2FNUZ>{}), true;
    case DataType::kFloat8E8M0:
      return visit(TypeTag<Float8E8M0>{}), true;
    default:
      return false;
  }
}

bool is_integral(DataType type) { return is_integer(type) || type == DataType::kBool; }

// Writes n values of class Value (int64_t, uint64_t, double) as elements from `begin` on.
template <typename Value>
void store(DataType type, const Value* values, void* to, int64_t begin, int64_t n,
           const ConvertOptions& options) {
  const bool whole = visit_integers(type, [&]<typename T>(TypeTag<T>) {
    T* out = static_cast<T*>(to) + begin;
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_same_v<Value, double>) {
        out[i] = truncate_saturate<T>(values[i]);
      } else {
        out[i] = static_cast<T>(values[i]);
      }
    }
  });
  if (whole) return;
  const bool floats = visit_floats(type, [&]<typename T>(TypeTag<T>) {
    T* out = static_cast<T*>(to) + begin;
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (kIsNarrow<T>) {
        out[i] = T::from(static_cast<double>(values[i]));
      } else {
        out[i] = static_cast<T>(values[i]);
      }
    }
  });
  if (floats) return;
  if (type == DataType::kBool) {
    auto* out = static_cast<uint8_t*>(to) + begin;
    for (int64_t i = 0; i < n; ++i) out[i] = values[i] != 0 ? 1 : 0;
    return;
  }
  const bool float8 = visit_float8(type, [&]<typename T>(TypeTag<T>) {
    T* out = static_cast<T*>(to) + begin;
    for (int64_t i = 0; i < n; ++i) {
      const auto value = static_cast<double>(values[i]);
      if constexpr (std::is_same_v<T, Float8E8M0>) {
        out[i] = T::from(value, options.saturate, options.rounding);
      } else {
        out[i] = T::from(value, options.saturate);
      }
    }
  });
  if (float8) return;
  uint8_t codes[kBlock];
  const int bits = bits_of(type);
  for (int64_t i = 0; i < n; ++i) {
    if (type == DataType::kFloat4E2M1) {
      codes[i] = static_cast<uint8_t>(
          encode_float(static_cast<double>(values[i]), kFloat4E2M1Format, true));
    } else if constexpr (std::is_same_v<Value, double>) {
      codes[i] = truncate_low_bits(values[i]);
    } else {
      codes[i] = static_cast<uint8_t>(values[i]);
    }
  }
  pack_codes(codes, begin, n, bits, static_cast<uint8_t*>(to));
}

Status bad_text(const std::string& text) {
  return Status(ErrorCode::kInvalidArgument,
                fmt::format("cannot convert the string '{}' to a number", text.substr(0, 64)));
}

Status from_strings(const std::string* from, DataType to_type, void* to, int64_t begin, int64_t n,
                    const ConvertOptions& options) {
  for (int64_t i = 0; i < n; i += 8) {
    const int64_t count = std::min<int64_t>(8, n - i);
    double values[8];
    int64_t integers[8];
    for (int64_t k = 0; k < count; ++k) {
      const std::string& text = from[begin + i + k];
      if (to_type == DataType::kFloat) {
        if (!parse_number(text, static_cast<float*>(to)[begin + i + k])) return bad_text(text);
      } else if (is_integer(to_type)) {
        if (!parse_number(text, integers[k])) return bad_text(text);
      } else if (!parse_number(text, values[k])) {
        return bad_text(text);
      }
    }
    if (to_type == DataType::kFloat) continue;
    if (is_integer(to_type)) {
      store(to_type, integers, to, begin + i, count, options);
    } else {
      store(to_type, values, to, begin + i, count, options);
    }
  }
  return Status::ok();
}

void to_strings(DataType from_type, const void* from, std::string* to, int64_t begin, int64_t n) {
  for (int64_t i = begin; i < begin + n; ++i) {
    if (from_type == DataType::kBool) {
      to[i] = static_cast<const uint8_t*>(from)[i] != 0 ? "True" : "False";
    } else if (from_type == DataType::kUint64) {
      to[i] = std::to_string(static_cast<const uint64_t*>(from)[i]);
    } else if (is_integer(from_type)) {
      int64_t value = 0;
      load_int64(from_type, from, i, 1, &value);
      to[i] = std::to_string(value);
    } else {
      double value = 0;
      load_double(from_type, from, i, 1, &value);
      to[i] = format_number(value, from_type);
    }
  }
}

// Masks, indices, sizes and bytes of pictures. Bool counts as bytes of 0 and 1.
template <typename Visit>
bool visit_common_integers(DataType type, Visit&& visit) {
  switch (type) {
    case DataType::kBool:
    case DataType::kUint8:
      return visit(TypeTag<uint8_t>{});
    case DataType::kInt8:
      return visit(TypeTag<int8_t>{});
    case DataType::kInt32:
      return visit(TypeTag<int32_t>{});
    case DataType::kInt64:
      return visit(TypeTag<int64_t>{});
    default:
      return false;
  }
}

// The casts that models spend time in, without the detour over the widest type.
bool convert_fast(DataType from_type, const void* from, DataType to_type, void* to, int64_t begin,
                  int64_t n) {
  if (to_type == DataType::kFloat && is_narrow(from_type)) {
    widen(from_type, static_cast<const uint16_t*>(from) + begin, static_cast<float*>(to) + begin,
          n);
    return true;
  }
  if (from_type == DataType::kFloat && is_narrow(to_type)) {
    round_back(to_type, static_cast<const float*>(from) + begin, static_cast<uint16_t*>(to) + begin,
               n);
    return true;
  }
  return visit_common_integers(from_type, [&]<typename From>(TypeTag<From>) {
    const From* in = static_cast<const From*>(from) + begin;
    const auto convert = [&]<typename To>(TypeTag<To>) {
      To* out = static_cast<To*>(to) + begin;
      for (int64_t i = 0; i < n; ++i) out[i] = static_cast<To>(in[i]);
      return true;
    };
    if (to_type == DataType::kFloat) return convert(TypeTag<float>{});
    if (to_type == DataType::kInt32) return convert(TypeTag<int32_t>{});
    if (to_type == DataType::kInt64) return convert(TypeTag<int64_t>{});
    return false;
  });
}

}  // namespace

bool is_convertible(DataType type) {
  return type != DataType::kUndefined && type != DataType::kComplex64 &&
         type != DataType::kComplex128;
}

void load_int64(DataType type, const void* data, int64_t begin, int64_t n, int64_t* out) {
  const bool whole = visit_integers(type, [&]<typename T>(TypeTag<T>) {
    const T* from = static_cast<const T*>(data) + begin;
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int64_t>(from[i]);
  });
  if (whole) return;
  const auto* bytes = static_cast<const uint8_t*>(data);
  if (type == DataType::kBool) {
    for (int64_t i = 0; i < n; ++i) out[i] = bytes[begin + i] != 0 ? 1 : 0;
    return;
  }
  const int bits = bits_of(type);
  const bool is_signed = type == DataType::kInt4 || type == DataType::kInt2;
  for (int64_t i = 0; i < n; ++i) {
    const uint8_t code = load_code(bytes, begin + i, bits);
    out[i] = is_signed ? sign_extend(code, bits) : code;
  }
}

void load_double(DataType type, const void* data, int64_t begin, int64_t n, double* out) {
  const auto copy = [&]<typename T>(TypeTag<T>) {
    const T* from = static_cast<const T*>(data) + begin;
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_same_v<T, double>) {
        out[i] = from[i];
      } else {
        out[i] = static_cast<double>(static_cast<float>(from[i]));
      }
    }
  };
  if (visit_floats(type, copy) || visit_float8(type, copy)) return;
  for (int64_t i = 0; i < n; ++i) {
    out[i] =
        decode_float(load_code(static_cast<const uint8_t*>(data), begin + i, 4), kFloat4E2M1Format);
  }
}

Status convert_elements(DataType from_type, const void* from, DataType to_type, void* to,
                        int64_t begin, int64_t n, const ConvertOptions& options) {
  if (from_type == DataType::kString && to_type == DataType::kString) {
    if (from != to) {
      std::copy_n(static_cast<const std::string*>(from) + begin, n,
                  static_cast<std::string*>(to) + begin);
    }
    return Status::ok();
  }
  if (from_type == DataType::kString) {
    return from_strings(static_cast<const std::string*>(from), to_type, to, begin, n, options);
  }
  if (to_type == DataType::kString) {
    to_strings(from_type, from, static_cast<std::string*>(to), begin, n);
    return Status::ok();
  }
  if (convert_fast(from_type, from, to_type, to, begin, n)) return Status::ok();
  for (int64_t at = begin; at < begin + n; at += kBlock) {
    const int64_t count = std::min(kBlock, begin + n - at);
    if (is_integral(from_type)) {
      int64_t values[kBlock];
      load_int64(from_type, from, at, count, values);
      if (from_type == DataType::kUint64) {
        uint64_t bits[kBlock];
        std::memcpy(bits, values, static_cast<size_t>(count) * sizeof(uint64_t));
        store(to_type, bits, to, at, count, options);
      } else {
        store(to_type, values, to, at, count, options);
      }
    } else {
      double values[kBlock];
      load_double(from_type, from, at, count, values);
      store(to_type, values, to, at, count, options);
    }
  }
  return Status::ok();
}

}  // namespace sardonyx
