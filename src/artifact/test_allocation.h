// How much memory a test asked for at once. Test code only.
#pragma once

#include <cstddef>

namespace sardonyx::artifact::testing {

// Bytes of the largest operator new so far; may be set back.
size_t& largest_allocation();

}  // namespace sardonyx::artifact::testing
