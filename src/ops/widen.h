// Float16 and bfloat16 through kernels written for float (and mixed float types through double):
// the operands are converted into scratch, the kernel runs there, the results are converted back
// with one rounding. Called by `prepare` of operators whose kernels exist for float and double.
#pragma once

#include <memory>
#include <utility>

#include "ops/kernel.h"

namespace sardonyx {

// kDouble when any float input or output is double, otherwise kFloat. Throws through
// context.unsupported() when input 0 is none of float16, bfloat16, float, double.
DataType compute_type(const PrepareContext& context);

// `kernel` unless a float operand differs from `compute`; otherwise a kernel around it that
// converts. Inputs in the mask `keep` pass as they are. `kernel` may use two phases, and may look
// at shapes only in resolve.
std::unique_ptr<Kernel> widen(const PrepareContext& context, std::unique_ptr<Kernel> kernel,
                              DataType compute, uint32_t keep = 0);

// K<float> or K<double>, widened as needed.
template <template <typename> typename K, typename... Args>
std::unique_ptr<Kernel> floating_kernel(const PrepareContext& context, Args&&... args) {
  if (compute_type(context) == DataType::kDouble) {
    return widen(context, std::make_unique<K<double>>(std::forward<Args>(args)...),
                 DataType::kDouble);
  }
  return widen(context, std::make_unique<K<float>>(std::forward<Args>(args)...), DataType::kFloat);
}

}  // namespace sardonyx
