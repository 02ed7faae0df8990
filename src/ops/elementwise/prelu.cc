// PRelu: x < 0 ? slope * x : x. The slope is broadcast to x; before version 7 it is one number or
// one for each channel (axis 1).
#include <fmt/format.h>

#include "ops/elementwise/binary.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "X: T, slope: T -> Y: T | consumed_inputs: ints? | T: @ieee"},
    {6, "X: T, slope: T -> Y: T | | T: @ieee"},
    {7, "X: T, slope: T -> Y: T | | T: @ieee"},
    {9, "X: T, slope: T -> Y: T | | T: @wide @ieee"},
    {16, "X: T, slope: T -> Y: T | | T: @float @wide"},
};

struct PreluOp {
  static constexpr kernels::BinaryOp kKernel = kernels::BinaryOp::kPrelu;
  static constexpr double kNanoseconds = 0.5;
  static double apply(double a, double b) { return a < 0 ? a * b : a; }
  template <typename T>
  static T apply(T a, T b) {
    if (!(a < 0)) return a;
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};

// The axis of x where the slope's axes start.
size_t start_axis(const Node& node, size_t x_rank, size_t slope_rank) {
  if (node.version < 7 && x_rank > 1) return 1;
  return x_rank - slope_rank;
}

void infer(InferContext& context) {
  context.same_as_input(0);
  const SymShape& x = context.input_shape(0);
  const SymShape& slope = context.input_shape(1);
  if (!x || !slope) return;
  const size_t start =
      slope->size() <= x->size() ? start_axis(context.node(), x->size(), slope->size()) : 0;
  bool fits = start + slope->size() <= x->size();
  for (size_t i = 0; fits && i < slope->size(); ++i) {
    const Dim& own = (*slope)[i];
    const Dim& of = (*x)[start + i];
    fits = own.is(1) || !own.is_known() || !of.is_known() || own == of;
  }
  if (!fits) context.fail("the slope does not broadcast to the input");
}

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  const BinaryCode code = arithmetic_code<PreluOp>(context);
  if (context.node.version < 7) return make_aligned_kernel(code, 1);
  return make_binary_kernel(context.node, code);
}

}  // namespace

extern const OpDef kPRelu = {
    .domain = "",
    .name = "PRelu",
    .versions = kVersions,
    .traits = kElementwise | kZeroPreserving,
    .in_place = 0b1,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
