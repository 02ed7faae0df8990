#include "ops/gemm/pack_b.h"

namespace sardonyx {

void infer_packed_b(InferContext& context, const PackBParams& params, DataType packed,
                    PanelSize panel_size) {
  const SymShape& b = context.input_shape(0);
  if (!b) return context.set_output(0, packed, std::nullopt);
  if (b->size() < 2) context.fail("the matrix needs two dimensions or more");
  DimTable& dims = context.dims();
  const Dim k = (*b)[b->size() - (params.transpose ? 1 : 2)];
  const Dim n = (*b)[b->size() - (params.transpose ? 2 : 1)];
  Dims out(b->begin(), b->end() - 2);
  out.push_back(dims.mul(dims.ceil_div(n, params.nr), panel_size(dims, k, params.nr)));
  context.set_output(0, packed, std::move(out));
}

Status resolve_pack_b(const PackBParams& params, const ResolveContext& context,
                      double ns_per_element, StepPlan& plan) {
  const Shape& b = context.input_shape(0);
  auto s = std::make_shared<PackBState>();
  s->k = b[b.size() - (params.transpose ? 1 : 2)];
  s->n = b[b.size() - (params.transpose ? 2 : 1)];
  s->panels = (s->n + params.nr - 1) / params.nr;
  s->matrices = element_count(b, 0, b.size() - 2);
  plan.split(s->matrices * s->panels, ns_per_element * static_cast<double>(s->k * params.nr));
  plan.state = std::move(s);
  return Status::ok();
}

}  // namespace sardonyx
