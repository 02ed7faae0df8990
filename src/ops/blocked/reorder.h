// The kernel of both reorders between plain and blocked values.
#pragma once

#include "kernels/reorder/reorder.h"
#include "ops/kernel.h"

namespace sardonyx {

using ReorderFunction = void (*)(const kernels::ReorderArgs&, const kernels::ReorderRange&);

class ReorderKernel final : public Kernel {
 public:
  // The plain side is input 0 or output 0; its axis `channel_axis` holds the channels.
  ReorderKernel(ReorderFunction function, bool plain_is_input, size_t channel_axis, int block)
      : function_(function),
        plain_is_input_(plain_is_input),
        channel_axis_(channel_axis),
        block_(block) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override;
  Status run(const RunContext& context) const override;

 private:
  ReorderFunction function_;
  bool plain_is_input_;
  size_t channel_axis_;
  int block_;
};

}  // namespace sardonyx
