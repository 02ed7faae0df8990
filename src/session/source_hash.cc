#include "session/source_hash.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "session/compiled_model.h"

namespace sardonyx {

std::string source_hash(const ModelSource& source) {
  const ModelBytes model = open_model(source);
  const XXH128_hash_t hash = XXH3_128bits(model.bytes.data(), model.bytes.size());
  return fmt::format("xxh3:{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace sardonyx
