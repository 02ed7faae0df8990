#include <map>
#include <mutex>
#include <unordered_map>

#include <fmt/format.h>

#include "base/fork.h"
#include "ops/op.h"
#include "sardonyx/error.h"

namespace sardonyx {

#define SDX_OP(name) extern const OpDef name;
#include "ops/op_list.inc"
#undef SDX_OP

namespace {

#define SDX_OP(name) &name,
constexpr const OpDef* kOps[] = {
#include "ops/op_list.inc"
};
#undef SDX_OP

}  // namespace

std::span<const OpDef* const> all_ops() { return kOps; }

const OpDef* find_op(std::string_view domain, std::string_view name) {
  using Index = std::unordered_multimap<std::string_view, const OpDef*>;
  static const Index& index = *new Index([] {
    Index fresh;
    for (const OpDef* op : kOps) fresh.emplace(op->name, op);
    return fresh;
  }());  // never destroyed: threads may use it until the process ends
  if (domain == "ai.onnx") domain = "";
  const auto [first, last] = index.equal_range(name);
  for (auto it = first; it != last; ++it) {
    if (it->second->domain == domain) return it->second;
  }
  return nullptr;
}

const OpVersion* find_version(const OpDef& op, int64_t opset) {
  const OpVersion* found = nullptr;
  for (const OpVersion& version : op.versions) {
    if (version.since <= opset) found = &version;
  }
  return found;
}

const Schema& schema_of(const OpDef& op, int since) {
  static ForkMutex& mutex = *new ForkMutex;
  static auto& cache = *new std::map<const OpVersion*, Schema>;
  for (const OpVersion& version : op.versions) {
    if (version.since != since) continue;
    const std::lock_guard lock(mutex);
    const auto it = cache.find(&version);
    if (it != cache.end()) return it->second;
    return cache.emplace(&version, parse_schema(since, version.schema)).first->second;
  }
  throw Error(ErrorCode::kFail, fmt::format("{} has no version {}", op.name, since));
}

}  // namespace sardonyx
