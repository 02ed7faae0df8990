// Equal, Less, LessOrEqual, Greater, GreaterOrEqual. A comparison with NaN is false.
#include "ops/elementwise/binary.h"

namespace sardonyx {
namespace {

constexpr OpVersion kEqualVersions[] = {
    {1, "A: T, B: T -> C: T1 | axis: int?, broadcast: int = 0 | T: bool int32 int64, T1: bool"},
    {7, "A: T, B: T -> C: T1 | | T: bool int32 int64, T1: bool"},
    {11, "A: T, B: T -> C: T1 | | T: @numeric bool, T1: bool"},
    {13, "A: T, B: T -> C: T1 | | T: @numeric13 bool, T1: bool"},
    {19, "A: T, B: T -> C: T1 | | T: @cast13, T1: bool"},
};
constexpr OpVersion kOrderVersions[] = {
    {1, "A: T, B: T -> C: T1 | axis: int?, broadcast: int = 0 | T: @ieee, T1: bool"},
    {7, "A: T, B: T -> C: T1 | | T: @ieee, T1: bool"},
    {9, "A: T, B: T -> C: T1 | | T: @numeric, T1: bool"},
    {13, "A: T, B: T -> C: T1 | | T: @numeric13, T1: bool"},
};
constexpr OpVersion kOrEqualVersions[] = {
    {12, "A: T, B: T -> C: T1 | | T: @numeric, T1: bool"},
    {16, "A: T, B: T -> C: T1 | | T: @numeric13, T1: bool"},
};

struct EqualOp {
  template <typename T>
  static bool apply(const T& a, const T& b) {
    return a == b;
  }
};
struct LessOp {
  template <typename T>
  static bool apply(T a, T b) {
    return a < b;
  }
};
struct GreaterOp {
  template <typename T>
  static bool apply(T a, T b) {
    return a > b;
  }
};
struct LessOrEqualOp {
  template <typename T>
  static bool apply(T a, T b) {
    return a <= b;
  }
};
struct GreaterOrEqualOp {
  template <typename T>
  static bool apply(T a, T b) {
    return a >= b;
  }
};

std::unique_ptr<Kernel> prepare_equal(const PrepareContext& context) {
  const DataType type = context.input_element(0);
  BinaryCode code{type, type, DataType::kBool};
  if (type == DataType::kBool) {
    code.loop = binary_loop<EqualOp, uint8_t, bool>;
  } else if (type == DataType::kString) {
    code.loop = binary_loop<EqualOp, std::string, bool>;
    code.nanoseconds = 10.0;
  } else {
    code = comparison_code<EqualOp>(context);
  }
  return make_binary_kernel(context.node, code);
}

template <typename Op>
std::unique_ptr<Kernel> prepare_order(const PrepareContext& context) {
  return make_binary_kernel(context.node, comparison_code<Op>(context));
}

template <typename Op>
Dim compare(DimTable&, Dim a, Dim b) {
  if (proven_equal(a, b)) return Op::apply(int64_t{0}, int64_t{0}) ? 1 : 0;
  if (!a.is_known() || !b.is_known()) return Dim::unknown();
  return Op::apply(a.value, b.value) ? 1 : 0;
}

template <typename Op>
void infer(InferContext& context) {
  infer_binary(context, DataType::kBool, compare<Op>);
}

}  // namespace

extern const OpDef kEqual = {
    .domain = "",
    .name = "Equal",
    .versions = kEqualVersions,
    .traits = kElementwise | kCommutative,
    .infer = infer<EqualOp>,
    .prepare = prepare_equal,
};
extern const OpDef kGreater = {
    .domain = "",
    .name = "Greater",
    .versions = kOrderVersions,
    .traits = kElementwise | kZeroPreserving,
    .infer = infer<GreaterOp>,
    .prepare = prepare_order<GreaterOp>,
};
extern const OpDef kGreaterOrEqual = {
    .domain = "",
    .name = "GreaterOrEqual",
    .versions = kOrEqualVersions,
    .traits = kElementwise,
    .infer = infer<GreaterOrEqualOp>,
    .prepare = prepare_order<GreaterOrEqualOp>,
};
extern const OpDef kLess = {
    .domain = "",
    .name = "Less",
    .versions = kOrderVersions,
    .traits = kElementwise | kZeroPreserving,
    .infer = infer<LessOp>,
    .prepare = prepare_order<LessOp>,
};
extern const OpDef kLessOrEqual = {
    .domain = "",
    .name = "LessOrEqual",
    .versions = kOrEqualVersions,
    .traits = kElementwise,
    .infer = infer<LessOrEqualOp>,
    .prepare = prepare_order<LessOrEqualOp>,
};

}  // namespace sardonyx
