// Trigonometric and hyperbolic functions. Sin and Cos have vectorised rows; the others go through
// the C library.
#include <cmath>

#include "ops/elementwise/unary.h"

namespace sardonyx {
namespace {

using kernels::UnaryOp;

constexpr OpVersion kVersions7[] = {
    {7, "input: T -> output: T | | T: @ieee"},
    {22, "input: T -> output: T | | T: @float"},
};
constexpr OpVersion kVersions9[] = {
    {9, "input: T -> output: T | | T: @ieee"},
    {22, "input: T -> output: T | | T: @float"},
};

constexpr UnaryRow kSinRow = {UnaryOp::kSin, [](double x, double, double) { return std::sin(x); },
                              1.5};
constexpr UnaryRow kCosRow = {UnaryOp::kCos, [](double x, double, double) { return std::cos(x); },
                              1.5};

template <const UnaryRow& kRow>
std::unique_ptr<Kernel> prepare_row(const PrepareContext& context) {
  return prepare_unary(context, kRow);
}

// Each function as a type with overloads for float and double.
#define SDX_LIBRARY_FUNCTION(Name, function)              \
  struct Name {                                           \
    static float apply(float x) { return function(x); }   \
    static double apply(double x) { return function(x); } \
  }
SDX_LIBRARY_FUNCTION(TanOp, std::tan);
SDX_LIBRARY_FUNCTION(AsinOp, std::asin);
SDX_LIBRARY_FUNCTION(AcosOp, std::acos);
SDX_LIBRARY_FUNCTION(AtanOp, std::atan);
SDX_LIBRARY_FUNCTION(SinhOp, std::sinh);
SDX_LIBRARY_FUNCTION(CoshOp, std::cosh);
SDX_LIBRARY_FUNCTION(AsinhOp, std::asinh);
SDX_LIBRARY_FUNCTION(AcoshOp, std::acosh);
SDX_LIBRARY_FUNCTION(AtanhOp, std::atanh);
#undef SDX_LIBRARY_FUNCTION

template <typename Op>
std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return prepare_float_loop<Op>(context, 12.0);
}

}  // namespace

extern const OpDef kAcos = unary_op("Acos", kVersions7, prepare<AcosOp>);
extern const OpDef kAcosh = unary_op("Acosh", kVersions9, prepare<AcoshOp>);
extern const OpDef kAsin = unary_op("Asin", kVersions7, prepare<AsinOp>, kZeroPreserving);
extern const OpDef kAsinh = unary_op("Asinh", kVersions9, prepare<AsinhOp>, kZeroPreserving);
extern const OpDef kAtan = unary_op("Atan", kVersions7, prepare<AtanOp>, kZeroPreserving);
extern const OpDef kAtanh = unary_op("Atanh", kVersions9, prepare<AtanhOp>, kZeroPreserving);
extern const OpDef kCos = unary_op("Cos", kVersions7, prepare_row<kCosRow>);
extern const OpDef kCosh = unary_op("Cosh", kVersions9, prepare<CoshOp>);
extern const OpDef kSin = unary_op("Sin", kVersions7, prepare_row<kSinRow>, kZeroPreserving);
extern const OpDef kSinh = unary_op("Sinh", kVersions9, prepare<SinhOp>, kZeroPreserving);
extern const OpDef kTan = unary_op("Tan", kVersions7, prepare<TanOp>, kZeroPreserving);

}  // namespace sardonyx
