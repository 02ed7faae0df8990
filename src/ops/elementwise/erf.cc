#include <cmath>

#include "ops/elementwise/unary.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {9, "input: T -> output: T | | T: @numeric"},
    {13, "input: T -> output: T | | T: @float"},
};

constexpr UnaryRow kRow = {kernels::UnaryOp::kErf,
                           [](double x, double, double) { return std::erf(x); }, 2.0};

// Version 9 has integers: the exact value truncated.
template <typename T>
void erf_of_integers(const void* in, void* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    static_cast<T*>(out)[i] =
        static_cast<T>(std::erf(static_cast<double>(static_cast<const T*>(in)[i])));
  }
}

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  std::unique_ptr<Kernel> kernel;
  visit_integers(context.input_element(0), [&]<typename T>(TypeTag<T>) {
    kernel = make_unary_kernel(erf_of_integers<T>, sizeof(T), 10.0);
  });
  return kernel ? std::move(kernel) : prepare_unary(context, kRow);
}

}  // namespace

extern const OpDef kErf = {
    .domain = "",
    .name = "Erf",
    .versions = kVersions,
    .traits = kElementwise | kZeroPreserving,
    .in_place = 0b1,
    .infer = infer_unary,
    .prepare = prepare,
};

}  // namespace sardonyx
