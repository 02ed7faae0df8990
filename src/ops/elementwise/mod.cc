// Mod: the rest of a floored quotient, with the sign of the divisor (fmod = 0), or of a truncated
// one, with the sign of the dividend (fmod = 1). On integers a divisor of 0 gives 0.
#include <cmath>

#include "ops/elementwise/binary.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {10, "A: T, B: T -> C: T | fmod: int = 0 | T: @numeric"},
    {13, "A: T, B: T -> C: T | fmod: int = 0 | T: @numeric13"},
    {28, "A: T, B: T -> C: T | fmod: int = 0 | T: @numeric13"},
};

template <typename T>
T truncated(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;  // the quotient may not be representable
    }
    return static_cast<T>(a % b);
  }
}

struct TruncatedOp {
  template <typename T>
  static T apply(T a, T b) {
    return from_compute<T>(truncated(to_compute(a), to_compute(b)));
  }
};

struct FlooredOp {
  template <typename T>
  static T apply(T a, T b) {
    return from_compute<T>(floored(to_compute(a), to_compute(b)));
  }

 private:
  template <typename T>
  static T floored(T a, T b) {
    const T rest = truncated(a, b);
    if constexpr (std::is_floating_point_v<T>) {
      if (rest == 0) return std::copysign(rest, b);
      // An infinite divisor of the other sign is the result itself.
      return (rest < 0) != (b < 0) ? rest + b : rest;
    } else {
      return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
    }
  }
};

bool is_truncated(const Node& node) { return node.attributes.get_int("fmod", 0) != 0; }

template <typename Op>
Dim known_rest(const Dim& a, const Dim& b) {
  return Op::apply(a.value, b.value);
}

Dim floored_rest(DimTable& dims, Dim a, Dim b) {
  if (a.is_known() && b.is_known()) return known_rest<FlooredOp>(a, b);
  if (b.is_known() && b.value <= 0) return Dim::unknown();
  return dims.mod(a, b);
}
Dim truncated_rest(DimTable&, Dim a, Dim b) {
  if (a.is_known() && b.is_known()) return known_rest<TruncatedOp>(a, b);
  return Dim::unknown();
}

void infer(InferContext& context) {
  const int64_t mode = context.node().attributes.get_int("fmod", 0);
  if (mode != 0 && mode != 1) context.fail("attribute 'fmod' must be 0 or 1");
  infer_binary(context, DataType::kUndefined, mode != 0 ? truncated_rest : floored_rest);
}

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  const DataType type = context.input_element(0);
  BinaryCode code{type, type, type};
  code.nanoseconds = 4.0;
  const bool truncates = is_truncated(context.node);
  const bool known = visit_numbers(type, [&]<typename T>(TypeTag<T>) {
    code.loop = truncates ? binary_loop<TruncatedOp, T, T> : binary_loop<FlooredOp, T, T>;
  });
  if (!known) context.unsupported("numbers");
  return make_binary_kernel(context.node, code);
}

}  // namespace

extern const OpDef kMod = {
    .domain = "",
    .name = "Mod",
    .versions = kVersions,
    .traits = kElementwise,
    .in_place = 0b11,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
