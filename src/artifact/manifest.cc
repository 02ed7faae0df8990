#include "artifact/manifest.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace sardonyx::artifact {

std::string manifest_json(const Manifest& manifest, const Head& head) {
  const Facets& facets = head.facets;
  nlohmann::ordered_json json;
  json["producer"] = manifest.producer;
  json["format"] = fmt::format("{}.{}", facets.format_major, facets.format_minor);
  json["source"] = {{"file", manifest.source_file}, {"hash", manifest.source_hash}};
  json["provider"] = facets.provider;
  json["architecture"] = facets.architecture;
  json["target"] = facets.target;
  json["required_isa"] = facets.required_isa;
  json["tuning"] = facets.tuning;
  json["rows"] = facets.rows;
  json["options"] = manifest.options;
  nlohmann::ordered_json sizes;
  for (const Section& section : head.sections) {
    if (section.kind != SectionKind::kManifest) sizes[name_of(section.kind)] = section.size;
  }
  json["section_bytes"] = std::move(sizes);
  json["notes"] = manifest.notes;
  // Names of files may hold any bytes; what is no UTF-8 becomes U+FFFD.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace sardonyx::artifact
