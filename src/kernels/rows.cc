#include "kernels/rows.h"

#include <hwy/detect_targets.h>

namespace sardonyx::kernels {

std::vector<Isa> built_rows() {
  std::vector<Isa> rows = {Isa::kBaseline};
  if constexpr ((HWY_TARGETS & HWY_SSE4) != 0) rows.push_back(Isa::kSse4);
  if constexpr ((HWY_TARGETS & HWY_AVX2) != 0) rows.push_back(Isa::kAvx2);
  if constexpr ((HWY_TARGETS & HWY_AVX3) != 0) rows.push_back(Isa::kAvx512);
  return rows;
}

}  // namespace sardonyx::kernels
