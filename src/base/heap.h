// The C library's heap, and what there is for it.
#pragma once

#include <cstdint>

namespace sardonyx {

// Returns pages that the heap keeps for later back to the system where the C library can; may take
// some milliseconds.
void trim_heap();

// Memory and swap space of the machine; the largest int64_t when the system does not tell.
int64_t memory_and_swap_bytes();

}  // namespace sardonyx
