#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

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

struct Entry {
  std::string_view name;
  const OpDef* op;
};

// "kConv" and "kConv_domain" are called Conv.
constexpr std::string_view name_of_symbol(std::string_view symbol) {
  return symbol.substr(1, symbol.find('_') - 1);
}

// Sorted when this is compiled: the first start of a process has no table to make.
constexpr auto kByName = [] {
#define SDX_OP(name) Entry{name_of_symbol(#name), &name},
  std::array entries{
#include "ops/op_list.inc"
  };
#undef SDX_OP
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}();

}  // namespace

std::span<const OpDef* const> all_ops() { return kOps; }

const OpDef* find_op(std::string_view domain, std::string_view name) {
  if (domain == "ai.onnx") domain = "";
  auto entry =
      std::lower_bound(kByName.begin(), kByName.end(), name,
                       [](const Entry& e, std::string_view wanted) { return e.name < wanted; });
  for (; entry != kByName.end() && entry->name == name; ++entry) {
    if (entry->op->domain == domain) return entry->op;
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
