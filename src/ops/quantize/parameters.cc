#include "ops/quantize/parameters.h"

#include <fmt/format.h>

namespace sardonyx {

void check_parameter(const InferContext& context, size_t input, const SymShape& operand,
                     size_t kept, size_t contracted) {
  if (!context.has_input(input) || !context.input_shape(input) || !operand) return;
  const Dims& own = *context.input_shape(input);
  const auto differ = [](const Dim& a, const Dim& b) {
    return a.is_known() && b.is_known() && a != b;
  };
  const std::optional<Shape> known = to_shape(own);
  if (!known || element_count(*known) == 1) return;  // an unknown size may turn out to be 1
  bool fits = false;
  if (own.size() == 1) {
    fits = operand->size() >= 2 && !differ(own[0], (*operand)[operand->size() - kept]);
  } else if (own.size() == operand->size()) {
    fits = true;
    for (size_t i = 0; i < own.size(); ++i) {
      const bool one = i + contracted == own.size();
      fits = fits && !differ(own[i], one ? Dim(1) : (*operand)[i]);
    }
  }
  if (!fits) {
    context.fail(fmt::format(
        "input {} fits no row or column of the matrices; expected one value, or one for each",
        input));
  }
}

}  // namespace sardonyx
