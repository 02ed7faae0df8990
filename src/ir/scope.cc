#include "ir/scope.h"

#include <algorithm>

namespace sardonyx {

std::optional<CaptureList::Captured> CaptureList::find(std::string_view name) {
  if (outer_ == nullptr) {
    const auto at = std::find(names_.begin(), names_.end(), name);
    const auto index = static_cast<int>(at - names_.begin());
    if (at == names_.end()) names_.emplace_back(name);
    return Captured{index, ValueType()};
  }
  const std::optional<ValueId> id = outer_->find(name);
  if (!id) return std::nullopt;
  const auto [at, fresh] = index_.try_emplace(*id, static_cast<int>(ids_.size()));
  if (fresh) {
    ids_.push_back(*id);
    names_.emplace_back(name);
  }
  return Captured{at->second, outer_->graph().value(*id).type};
}

bool CaptureList::is_visible(std::string_view name) const {
  return outer_ != nullptr && outer_->is_visible(name);
}

bool GraphScope::declare(std::string_view name, ValueId id) {
  return names_.emplace(name, id).second;
}

std::optional<ValueId> GraphScope::find_local(std::string_view name) const {
  const auto at = names_.find(name);
  return at == names_.end() ? std::nullopt : std::optional<ValueId>(at->second);
}

std::optional<ValueId> GraphScope::find(std::string_view name) {
  if (const auto local = find_local(name)) return local;
  if (outer_ == nullptr) return std::nullopt;
  const auto captured = outer_->find(name);
  if (!captured) return std::nullopt;
  const ValueId id = graph_.add_capture(name, captured->type, captured->index);
  names_.emplace(name, id);
  return id;
}

bool GraphScope::is_visible(std::string_view name) const {
  return names_.contains(name) || is_visible_outside(name);
}

}  // namespace sardonyx
