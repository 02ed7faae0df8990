// Multiply-adds per second that one thread reaches with operands in registers: the yardstick of
// gemm_bench. Benchmarks only.
#pragma once

#include "base/cpu.h"

namespace sardonyx::kernels {

// Floating-point operations per second (two per multiply-add), best of a few runs of about 1 ms.
double measure_fma_peak(Isa isa);

}  // namespace sardonyx::kernels
