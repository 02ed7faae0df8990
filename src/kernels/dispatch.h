// How a kernel family picks its machine row. A family's .cc is compiled once per Highway target
// (foreach_target); each target namespace defines one function that returns the family's table of
// function pointers, and SDX_KERNEL_TABLE, inside HWY_ONCE, makes the selector that callers use:
//
//   const GemmKernels& gemm_kernels(Isa isa = best_isa());
//
// A level that was not compiled falls to the next lower one; the last is Highway's static target
// (scalar on plain x86-64, NEON on aarch64). Include after <hwy/foreach_target.h>.
#pragma once

#include <hwy/detect_targets.h>

#include "base/cpu.h"

#if HWY_TARGETS & HWY_AVX3
#define SDX_ROW_AVX512(ns, fn) \
  if (isa >= ::sardonyx::Isa::kAvx512) return ns::N_AVX3::fn();
#else
#define SDX_ROW_AVX512(ns, fn)
#endif
#if HWY_TARGETS & HWY_AVX2
#define SDX_ROW_AVX2(ns, fn) \
  if (isa >= ::sardonyx::Isa::kAvx2) return ns::N_AVX2::fn();
#else
#define SDX_ROW_AVX2(ns, fn)
#endif
#if HWY_TARGETS & HWY_SSE4
#define SDX_ROW_SSE4(ns, fn) \
  if (isa >= ::sardonyx::Isa::kSse4) return ns::N_SSE4::fn();
#else
#define SDX_ROW_SSE4(ns, fn)
#endif

// Table: type of the table; selector: name of the function to define in sardonyx::kernels;
// row_function: `const Table& row_function()` of each target namespace.
#define SDX_KERNEL_TABLE(Table, selector, row_function)        \
  const Table& selector(::sardonyx::Isa isa) {                 \
    SDX_ROW_AVX512(::sardonyx::kernels, row_function)          \
    SDX_ROW_AVX2(::sardonyx::kernels, row_function)            \
    SDX_ROW_SSE4(::sardonyx::kernels, row_function)            \
    (void)isa;                                                 \
    return ::sardonyx::kernels::HWY_NAMESPACE::row_function(); \
  }
