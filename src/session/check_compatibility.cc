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

Verdict check_compatibility(const ModelSource& source) {
  const ModelBytes model = open_model(source);
  if (artifact::is_artifact(model.bytes)) {
    return artifact::judge(artifact::read_facets(model.bytes, model.bytes.size()), cpu::offer());
  }
  std::string others;
  const auto metadata = read_model_metadata(model.bytes);
  if (const std::string* info = find_info(metadata, others)) return check_compatibility_info(*info);
  if (!others.empty()) {
    return not_applicable(
        "provider", fmt::format("it was compiled by {}, not by {}", others, cpu::kProviderName));
  }
  return not_applicable("metadata", fmt::format("the model's metadata has no {}{}; it is not "
                                                "compiled, or by something that does not say for "
                                                "what",
                                                kKeyPrefix, cpu::kProviderName));
}

}  // namespace sardonyx
