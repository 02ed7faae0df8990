// Arena offsets: places buffers with known lifetimes in one block of memory so that buffers alive
// at the same time do not overlap. Best fit in order of first use.
#pragma once

#include <cstdint>
#include <span>

namespace sardonyx {

struct ArenaRequest {
  int32_t first_step = 0;  // inclusive
  int32_t last_step = 0;   // inclusive
  int64_t size_bytes = 0;
  int64_t offset = -1;  // out
};

struct ArenaLayout {
  int64_t size_bytes = 0;         // of the arena
  int64_t lower_bound_bytes = 0;  // the most that is alive at any one step
};

// Requests must be sorted by first_step. Offsets are multiples of `alignment`. What does not fit
// into an int64_t has the largest one as its size, and no useful offsets.
ArenaLayout place_in_arena(std::span<ArenaRequest> requests, int64_t alignment);

}  // namespace sardonyx
