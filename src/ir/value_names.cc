#include "ir/value_names.h"

#include <fmt/format.h>

namespace sardonyx {

ValueNames::ValueNames(const Graph& graph, const ValueNames* outer, const ValueIds* captures)
    : outer_(outer) {
  names_.resize(graph.value_count());
  const auto name = [&](ValueId id, bool with_made_up) {
    std::string& given = names_[static_cast<size_t>(id)];
    const GraphValue& value = graph.value(id);
    if (!value.alive || !given.empty()) return;
    if (!value.name.empty()) {
      given = fresh(value.name);
    } else if (with_made_up) {
      given = fresh(fmt::format("v{}", static_cast<int32_t>(id)));
    }
  };
  if (outer != nullptr && captures != nullptr) {
    for (const Capture& capture : graph.captures()) {
      const auto index = static_cast<size_t>(capture.index);
      if (index >= captures->size()) continue;
      names_[static_cast<size_t>(capture.inner)] = outer->of((*captures)[index]);
    }
  }
  for (ValueId id : graph.inputs()) name(id, false);
  for (ValueId id : graph.outputs()) name(id, false);
  // Named values first, so that a made-up name never takes the name of another value.
  for (const bool with_made_up : {false, true}) {
    for (size_t i = 0; i < names_.size(); ++i) name(static_cast<ValueId>(i), with_made_up);
  }
}

bool ValueNames::taken(const std::string& name) const {
  return used_.contains(name) || (outer_ != nullptr && outer_->taken(name));
}

std::string ValueNames::fresh(const std::string& wish) {
  std::string name = wish;
  for (int i = 1; taken(name); ++i) name = fmt::format("{}_{}", wish, i);
  used_.insert(name);
  return name;
}

}  // namespace sardonyx
