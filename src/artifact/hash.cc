#include "artifact/hash.h"

#include <xxhash.h>

#include <cstring>

namespace sardonyx::artifact {
namespace {

Hash128 to_bytes(XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  Hash128 bytes;
  static_assert(sizeof(canonical.digest) == sizeof(bytes));
  std::memcpy(bytes.data(), canonical.digest, sizeof(bytes));
  return bytes;
}

}  // namespace

struct Hasher::State {
  XXH3_state_t xxh;
};

Hash128 hash_of(std::span<const std::byte> bytes) {
  return to_bytes(XXH3_128bits(bytes.data(), bytes.size()));
}

uint64_t short_hash_of(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

Hasher::Hasher() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->xxh); }
Hasher::~Hasher() = default;

void Hasher::add(std::span<const std::byte> bytes) {
  XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size());
}

Hash128 Hasher::result() const { return to_bytes(XXH3_128bits_digest(&state_->xxh)); }

}  // namespace sardonyx::artifact
