// The section MANIFEST: JSON for people. Called by write_artifact.
#pragma once

#include <string>

#include "artifact/artifact.h"
#include "artifact/head.h"

namespace sardonyx::artifact {

// `head` holds the facets and the sizes of the other sections.
std::string manifest_json(const Manifest& manifest, const Head& head);

}  // namespace sardonyx::artifact
