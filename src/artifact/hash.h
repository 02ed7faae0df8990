// XXH3: finds damage, does not stop forgers (whatever a reader takes from a file whose hashes agree
// is still checked). Called by the other files of this module.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace sardonyx::artifact {

using Hash128 = std::array<uint8_t, 16>;  // canonical byte order of XXH3-128

Hash128 hash_of(std::span<const std::byte> bytes);
uint64_t short_hash_of(std::span<const std::byte> bytes);  // XXH3-64

// The hash of bytes that come in pieces.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  void add(std::span<const std::byte> bytes);
  Hash128 result() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sardonyx::artifact
