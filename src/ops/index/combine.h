// What a scatter does where it writes: replace, or combine with what is there.
#pragma once

#include "ops/op.h"

namespace sardonyx {

// n elements of `from` into `to`.
using Combine = void (*)(const void* from, void* to, int64_t n);

// By attribute 'reduction'. null: the element type does not have it.
Combine find_combine(DataType type, const Node& node);
// Fails when the attribute names none that the node's version has.
void check_reduction(const InferContext& context);

// Base of scatters: input 0 is copied to output 0, then `scatter` runs on one thread, so that
// several updates of one element come in order.
class ScatterKernel : public Kernel {
 public:
  Status resolve(const ResolveContext& context, StepPlan& plan) const final;
  Status run(const RunContext& context) const final;

 protected:
  explicit ScatterKernel(const PrepareContext& context);
  virtual std::shared_ptr<const void> plan_scatter(const ResolveContext& context) const = 0;
  virtual Status scatter(const RunContext& context) const = 0;

  Combine combine_;
};

}  // namespace sardonyx
