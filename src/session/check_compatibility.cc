#include <fmt/format.h>

#include "cpu/facets.h"
#include "onnx/ep_context.h"
#include "sardonyx/compile.h"
#include "session/compiled_model.h"

namespace sardonyx {
namespace {

constexpr std::string_view kKeyPrefix = "ep_compatibility_info.";

Verdict not_applicable(const char* facet, std::string reason) {
  return {Compatibility::kNotApplicable, facet, std::move(reason)};
}

// nullptr: the model says nothing about this provider. `others` gets the providers it names.
const std::string* find_info(const std::vector<std::pair<std::string, std::string>>& metadata,
                             std::string& others) {
  const std::string* info = nullptr;
  for (const auto& [key, value] : metadata) {
    if (!key.starts_with(kKeyPrefix)) continue;
    const std::string_view provider = std::string_view(key).substr(kKeyPrefix.size());
    if (provider == cpu::kProviderName) {
      info = &value;
    } else {
      others += (others.empty() ? "" : ", ") + std::string(provider);
    }
  }
  return info;
}

bool is_usable(const Verdict& verdict) {
  return verdict.compatibility == Compatibility::kOptimal ||
         verdict.compatibility == Compatibility::kPreferRecompilation;
}

Verdict judge_part(const EpContextNode& node, const ModelSource& source, const ModelBytes& model) {
  try {
    const CompiledFile file = open_compiled(node, source, model, {});
    return artifact::judge(read_facets(&node, source, file), cpu::offer());
  } catch (const NotTogether&) {
    throw;
  } catch (const Error& error) {
    return {Compatibility::kUnsupported, "container", error.what()};
  }
}

// The first part that is worse than optimal decides, and one that cannot be used before all.
Verdict judge_parts(const ModelSource& source, const ModelBytes& model) {
  Verdict verdict{Compatibility::kOptimal, "", ""};
  const std::optional<EpContextModel> found = find_ep_context(model.bytes);
  if (!found) return verdict;
  for (const EpContextNode& node : found->nodes) {
    if (node.source != cpu::kProviderName) continue;
    if (source.in_memory && !node.is_embedded) continue;  // it is not known where the file lies
    const Verdict part = judge_part(node, source, model);
    if (!is_usable(part)) return part;
    if (verdict.compatibility == Compatibility::kOptimal) verdict = part;
  }
  return verdict;
}

}  // namespace

const char* to_string(Compatibility compatibility) noexcept {
  switch (compatibility) {
    case Compatibility::kNotApplicable:
      return "not applicable";
    case Compatibility::kOptimal:
      return "optimal";
    case Compatibility::kPreferRecompilation:
      return "prefer recompilation";
    case Compatibility::kUnsupported:
      return "unsupported";
  }
  return "unknown";
}

Verdict check_compatibility_info(std::string_view info) {
  if (info.empty()) {
    return not_applicable("metadata",
                          fmt::format("there is no compatibility info of {}", cpu::kProviderName));
  }
  return artifact::judge(artifact::parse_compatibility_info(info), cpu::offer());
}

namespace {

Verdict check(const ModelSource& source) {
  const ModelBytes model = open_model(source);
  if (artifact::is_artifact(model.bytes)) {
    return artifact::judge(artifact::read_facets(model.bytes, model.bytes.size()), cpu::offer());
  }
  std::string others;
  const auto metadata = read_model_metadata(model.bytes);
  if (const std::string* info = find_info(metadata, others)) {
    const Verdict verdict = check_compatibility_info(*info);
    if (!is_usable(verdict)) return verdict;
    const Verdict of_parts = judge_parts(source, model);
    return of_parts.compatibility == Compatibility::kOptimal ? verdict : of_parts;
  }
  if (!others.empty()) {
    return not_applicable(
        "provider", fmt::format("it was compiled by {}, not by {}", others, cpu::kProviderName));
  }
  return not_applicable("metadata", fmt::format("the model's metadata has no {}{}; it is not "
                                                "compiled, or by something that does not say for "
                                                "what",
                                                kKeyPrefix, cpu::kProviderName));
}

}  // namespace

Verdict check_compatibility(const ModelSource& source) {
  try {
    return reading_pair(source, [&] { return check(source); });
  } catch (const NotTogether& error) {
    return {Compatibility::kUnsupported, "container", error.what()};
  }
}

}  // namespace sardonyx
