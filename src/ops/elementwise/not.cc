#include "ops/elementwise/unary.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "X: T -> Y: T | | T: bool"},
};

void invert(const void* in, void* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    static_cast<uint8_t*>(out)[i] = static_cast<const uint8_t*>(in)[i] == 0 ? 1 : 0;
  }
}

void infer(InferContext& context) {
  context.same_as_input(0);
  if (auto ints = context.input_ints(0)) {
    for (Dim& dim : *ints) {
      if (dim.is_known())
        dim = Dim(dim.value == 0 ? 1 : 0);
      else
        dim = Dim::unknown();
    }
    context.set_output_ints(0, *ints);
  }
}

std::unique_ptr<Kernel> prepare(const PrepareContext&) { return make_unary_kernel(invert, 1, 0.2); }

}  // namespace

extern const OpDef kNot = {
    .domain = "",
    .name = "Not",
    .versions = kVersions,
    .traits = kElementwise,
    .in_place = 0b1,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
