#include "ops/pool/global_pool.h"

#include <fmt/format.h>

namespace sardonyx {

void infer_global_pool(InferContext& context) {
  SymShape shape = context.input_shape(0);
  if (shape) {
    if (shape->size() < 2) {
      context.fail(fmt::format("input of rank {}; expected 2 or more", shape->size()));
    }
    for (size_t i = 2; i < shape->size(); ++i) (*shape)[i] = 1;
  }
  context.set_output(0, context.input_element(0), std::move(shape));
}

}  // namespace sardonyx
