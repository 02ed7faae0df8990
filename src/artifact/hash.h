// XXH3: finds damage, does not stop forgers (whatever a reader takes from a file whose hashes agree
// is still checked). Called by the other files of this module.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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

inline constexpr size_t kHashPieceBytes = size_t{256} << 10;  // between two looks at `cancel`

// The hash of `size` bytes, which read(offset, size) gives piece by piece; nullopt when cancelled.
template <typename Read>
std::optional<Hash128> hash_of_pieces(uint64_t size, const std::atomic<bool>* cancel,
                                      const Read& read) {
  Hasher hasher;
  for (uint64_t done = 0; done < size;) {
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) return std::nullopt;
    const auto piece = static_cast<size_t>(std::min<uint64_t>(size - done, kHashPieceBytes));
    hasher.add(read(done, piece));
    done += piece;
  }
  return hasher.result();
}

}  // namespace sardonyx::artifact
