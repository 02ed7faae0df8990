// The C library's heap.
#pragma once

namespace sardonyx {

// Returns pages that the heap keeps for later back to the system where the C library can; may take
// some milliseconds.
void trim_heap();

}  // namespace sardonyx
