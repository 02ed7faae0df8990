#include "session/compiled_info.h"

#include <fmt/format.h>

#include "cpu/facets.h"
#include "session/compiled_model.h"

namespace sardonyx {
namespace {

CompiledPartInfo describe_part(const EpContextNode* node, const ModelSource& source,
                               const CompiledFile& file) {
  CompiledPartInfo info;
  if (node != nullptr) info.node = node->name;
  info.file = file.path;
  const std::span<const std::byte> bytes = file.image.bytes;
  const artifact::Facets facets = read_facets(node, source, file);
  info.format = fmt::format("{}.{}", facets.format_major, facets.format_minor);
  info.target = facets.target;
  info.required_isa = facets.required_isa;
  info.rows = facets.rows;
  info.verdict = artifact::judge(facets, cpu::offer());
  if (facets.format_major != artifact::kFormatMajor) return info;
  for (const artifact::SectionInfo& section : artifact::list_sections(bytes)) {
    info.sections.push_back({section.name, section.offset, section.size_bytes});
  }
  info.manifest = artifact::read_manifest(bytes);
  return info;
}

std::vector<CompiledPartInfo> describe(const ModelSource& source) {
  const ModelBytes model = open_model(source);
  if (artifact::is_artifact(model.bytes)) return {describe_part(nullptr, source, {"", model})};
  std::optional<EpContextModel> found;
  try {
    found = find_ep_context(model.bytes);
  } catch (const Error&) {
    return {};  // no ONNX file: loading it says what it is
  }
  std::vector<CompiledPartInfo> parts;
  if (!found) return parts;
  for (const EpContextNode& node : found->nodes) {
    if (node.source != cpu::kProviderName) continue;
    parts.push_back(describe_part(&node, source, open_compiled(node, source, model, {})));
  }
  return parts;
}

}  // namespace

std::vector<CompiledPartInfo> describe_compiled(const ModelSource& source) {
  return reading_pair(source, [&] { return describe(source); });
}

}  // namespace sardonyx
