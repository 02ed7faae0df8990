#include <fmt/format.h>

#include "cpu/facets.h"
#include "onnx/ep_context.h"
#include "onnx/reader.h"
#include "sardonyx/compile.h"
#include "session/compiled_model.h"
#include "session/join_parts.h"

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

Verdict unsupported(const char* facet, const Error& error) {
  return {Compatibility::kUnsupported, facet, error.what()};
}

// The part joins `parts` when it can be used.
Verdict judge_part(const EpContextNode* node, const ModelSource& source, const CompiledFile& file,
                   std::vector<artifact::CompiledPart>& parts) {
  Verdict verdict = artifact::judge(read_facets(node, source, file), cpu::offer());
  if (is_usable(verdict)) parts.push_back(artifact::read_interface(file.image.bytes));
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

Verdict check_alone(const ModelSource& source, const ModelBytes& model) {
  std::vector<artifact::CompiledPart> parts;
  const Verdict verdict = judge_part(nullptr, source, {"", model}, parts);
  if (is_usable(verdict)) put_together(nullptr, std::move(parts));
  return verdict;
}

// By the metadata alone.
Verdict check_metadata(std::span<const std::byte> model) {
  std::string others;
  const auto metadata = read_model_metadata(model);
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

Verdict check_source_model(std::span<const std::byte> model) {
  check_is_model(model);
  std::string others;
  if (find_info(read_model_metadata(model), others) == nullptr) return check_metadata(model);
  return not_applicable("model", fmt::format("the model is not compiled: it has no node {}, only "
                                             "the metadata of one",
                                             kEpContextOp));
}

// The first part that is worse than optimal decides, and one that cannot be used before all.
Verdict check_parts(const EpContextModel& found, const ModelSource& source,
                    const ModelBytes& model) {
  Verdict verdict{Compatibility::kOptimal, "", ""};
  std::vector<artifact::CompiledPart> parts;
  bool is_embedded = true;
  for (const EpContextNode& node : found.nodes) {
    is_embedded = is_embedded && node.is_embedded;
    if (source.in_memory && !node.is_embedded) continue;  // it is not known where the file lies
    Verdict part;
    try {
      part = judge_part(&node, source, open_compiled(node, source, model, {}), parts);
    } catch (const NotTogether&) {
      throw;
    } catch (const Error& error) {
      return unsupported("container", error);
    }
    if (!is_usable(part)) return part;
    if (verdict.compatibility == Compatibility::kOptimal) verdict = part;
  }
  if (parts.size() < found.nodes.size()) {
    const Verdict of_text = check_metadata(model.bytes);
    return of_text.compatibility == Compatibility::kOptimal ? verdict : of_text;
  }
  try {
    const bool is_joined = !is_whole(found, parts[0]);
    put_together(&found, std::move(parts));
    // Reading the ONNX file would read the parts inside.
    if (is_joined && !is_embedded) read_model(model.bytes, model.owner);
  } catch (const Error& error) {
    return unsupported("model", error);
  }
  return verdict;
}

// nullopt as find_ep_context(); for bytes that are no ONNX file throws as the reader of models.
std::optional<EpContextModel> find_parts(std::span<const std::byte> model) {
  try {
    return find_ep_context(model);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInvalidProtobuf) check_is_model(model);
    throw;
  }
}

Verdict check(const ModelSource& source) {
  const ModelBytes model = open_model(source);
  if (artifact::is_artifact(model.bytes)) return check_alone(source, model);
  std::optional<EpContextModel> found;
  try {
    found = find_parts(model.bytes);
    if (!found) return check_source_model(model.bytes);
    check_providers(*found);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kNotImplemented) return not_applicable("provider", error.what());
    throw;
  }
  try {
    check_nodes(*found);
  } catch (const Error& error) {
    return unsupported("model", error);
  }
  return check_parts(*found, source, model);
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
