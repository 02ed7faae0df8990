// What the operators that lay the right-hand matrix of a product out in panels have in common. The
// input is [..., k, n], or [..., n, k] transposed; each matrix becomes one dimension, leading
// dimensions stay. The panel width nr is an attribute, so that a weight can be packed on one
// machine for another. Used by PackGemmB and PackInt8GemmB.
#pragma once

#include <memory>

#include "ops/op.h"

namespace sardonyx {

struct PackBParams {
  bool transpose = false;  // the input is [..., n, k]
  int nr = 0;
};

// A panel is a chunk of work.
struct PackBState {
  int64_t k = 0, n = 0, panels = 0, matrices = 0;
};

// Elements of a packed panel of nr columns and k rows.
using PanelSize = Dim (*)(DimTable& dims, Dim k, int nr);

void infer_packed_b(InferContext& context, const PackBParams& params, DataType packed,
                    PanelSize panel_size);

// ns_per_element: of the input.
Status resolve_pack_b(const PackBParams& params, const ResolveContext& context,
                      double ns_per_element, StepPlan& plan);

// Calls pack(matrix, panel) for the panels of this chunk.
template <typename Pack>
void for_each_panel(const RunContext& context, const PackBState& s, Pack pack) {
  const Range part = context.part(s.matrices * s.panels);
  for (int64_t i = part.begin; i < part.end; ++i) pack(i / s.panels, i % s.panels);
}

}  // namespace sardonyx
