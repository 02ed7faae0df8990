// Builds a BoundProgram from graph text, for the tests and benchmarks of exec.
#pragma once

#include <memory>
#include <string_view>

#include "exec/bound_program.h"
#include "ir/text_parse.h"
#include "ops/resolve.h"
#include "plan/program.h"

namespace sardonyx {

inline std::shared_ptr<const BoundProgram> bind_text(std::string_view text, Isa isa = best_isa()) {
  const std::unique_ptr<Model> model = parse_model_text(text);
  resolve_model(*model);
  model->graph->sort();
  return bind(make_program(*model->graph), isa);
}

inline Tensor floats(const Shape& shape, std::initializer_list<float> values) {
  return Tensor::from<float>(DataType::kFloat, shape, {values.begin(), values.size()});
}

}  // namespace sardonyx
