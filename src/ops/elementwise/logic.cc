// And, Or, Xor on bool; BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot and BitShift on integers. A
// shift by as many bits as the type has, more, or a negative number of them leaves nothing but
// copies of the sign.
#include "ops/elementwise/binary.h"
#include "ops/elementwise/unary.h"

namespace sardonyx {
namespace {

constexpr OpVersion kLogicVersions[] = {
    {1, "A: T, B: T -> C: T1 | axis: int?, broadcast: int = 0 | T: bool, T1: bool"},
    {7, "A: T, B: T -> C: T1 | | T: bool, T1: bool"},
};
constexpr OpVersion kBitwiseVersions[] = {
    {18, "A: T, B: T -> C: T | | T: @integer"},
};
constexpr OpVersion kBitwiseNotVersions[] = {
    {18, "X: T -> Y: T | | T: @integer"},
};
constexpr OpVersion kBitShiftVersions[] = {
    {11, "X: T, Y: T -> Z: T | direction: string! | T: @unsigned"},
    {28, "X: T, Y: T -> Z: T | direction: string! | T: @integer"},
};

struct AndOp {
  static bool apply(bool a, bool b) { return a && b; }
};
struct OrOp {
  static bool apply(bool a, bool b) { return a || b; }
};
struct XorOp {
  static bool apply(bool a, bool b) { return a != b; }
};

template <typename Op>
std::unique_ptr<Kernel> prepare_logic(const PrepareContext& context) {
  BinaryCode code{DataType::kBool, DataType::kBool, DataType::kBool};
  code.loop = binary_loop<Op, uint8_t, bool>;
  code.nanoseconds = 0.3;
  return make_binary_kernel(context.node, code);
}

template <typename Op>
Dim logic_rule(DimTable&, Dim a, Dim b) {
  if (!a.is_known() || !b.is_known()) return Dim::unknown();
  return Op::apply(a.value != 0, b.value != 0) ? 1 : 0;
}

template <typename Op>
void infer_logic(InferContext& context) {
  infer_binary(context, DataType::kBool, logic_rule<Op>);
}

struct BitAndOp {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct BitOrOp {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct BitXorOp {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct BitNotOp {
  template <typename T>
  static T apply(T a) {
    return static_cast<T>(~a);
  }
};

template <typename T>
bool is_whole_shift(T count) {
  return static_cast<std::make_unsigned_t<T>>(count) >= sizeof(T) * 8;
}
struct ShiftLeftOp {
  template <typename T>
  static T apply(T a, T count) {
    if (is_whole_shift(count)) return 0;
    return static_cast<T>(static_cast<Wrapping<T>>(a) << count);
  }
};
struct ShiftRightOp {
  template <typename T>
  static T apply(T a, T count) {
    if (is_whole_shift(count)) return a < 0 ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> count);
  }
};

template <typename Op>
std::unique_ptr<Kernel> prepare_bits(const PrepareContext& context) {
  const DataType type = context.input_element(0);
  BinaryCode code{type, type, type};
  const bool known =
      visit_integers(type, [&]<typename T>(TypeTag<T>) { code.loop = binary_loop<Op, T, T>; });
  if (!known) context.unsupported("integers of 8 to 64 bits");
  return make_binary_kernel(context.node, code);
}

std::unique_ptr<Kernel> prepare_not(const PrepareContext& context) {
  std::unique_ptr<Kernel> kernel;
  visit_integers(context.input_element(0), [&]<typename T>(TypeTag<T>) {
    kernel = make_unary_kernel(unary_loop<BitNotOp, T>, sizeof(T), 0.3);
  });
  if (!kernel) context.unsupported("integers of 8 to 64 bits");
  return kernel;
}

std::unique_ptr<Kernel> prepare_shift(const PrepareContext& context) {
  return context.node.attributes.get_string("direction", "") == "LEFT"
             ? prepare_bits<ShiftLeftOp>(context)
             : prepare_bits<ShiftRightOp>(context);
}

template <typename Op>
Dim bits_rule(DimTable&, Dim a, Dim b) {
  if (!a.is_known() || !b.is_known()) return Dim::unknown();
  return Op::apply(a.value, b.value);
}
template <typename Op>
void infer_bits(InferContext& context) {
  infer_binary(context, DataType::kUndefined, bits_rule<Op>);
}

void infer_shift(InferContext& context) {
  const std::string direction = context.node().attributes.get_string("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    context.fail("attribute 'direction' is '" + direction + "', expected 'LEFT' or 'RIGHT'");
  }
  infer_binary(context, DataType::kUndefined, nullptr);
}

constexpr OpDef binary_op(std::string_view name, std::span<const OpVersion> versions,
                          void (*infer)(InferContext&),
                          std::unique_ptr<Kernel> (*prepare)(const PrepareContext&),
                          uint32_t traits) {
  return {.domain = "",
          .name = name,
          .versions = versions,
          .traits = kElementwise | kZeroPreserving | traits,
          .in_place = 0b11,
          .infer = infer,
          .prepare = prepare};
}

}  // namespace

extern const OpDef kAnd =
    binary_op("And", kLogicVersions, infer_logic<AndOp>, prepare_logic<AndOp>, kCommutative);
extern const OpDef kOr =
    binary_op("Or", kLogicVersions, infer_logic<OrOp>, prepare_logic<OrOp>, kCommutative);
extern const OpDef kXor =
    binary_op("Xor", kLogicVersions, infer_logic<XorOp>, prepare_logic<XorOp>, kCommutative);
extern const OpDef kBitwiseAnd = binary_op("BitwiseAnd", kBitwiseVersions, infer_bits<BitAndOp>,
                                           prepare_bits<BitAndOp>, kCommutative);
extern const OpDef kBitwiseOr = binary_op("BitwiseOr", kBitwiseVersions, infer_bits<BitOrOp>,
                                          prepare_bits<BitOrOp>, kCommutative);
extern const OpDef kBitwiseXor = binary_op("BitwiseXor", kBitwiseVersions, infer_bits<BitXorOp>,
                                           prepare_bits<BitXorOp>, kCommutative);
extern const OpDef kBitShift =
    binary_op("BitShift", kBitShiftVersions, infer_shift, prepare_shift, 0);
extern const OpDef kBitwiseNot = unary_op("BitwiseNot", kBitwiseNotVersions, prepare_not);

}  // namespace sardonyx
