// Which rows of the kernel tables were compiled into this build.
#pragma once

#include <vector>

#include "base/cpu.h"

namespace sardonyx::kernels {

// Ascending; always holds kBaseline.
std::vector<Isa> built_rows();

}  // namespace sardonyx::kernels
