// StridedCopy: moves elements into a row-major output from a source with any strides (negative: a
// reversed axis; 0: a repeated one). Expand, Slice, Transpose and their like are this with
// different strides. Elements are moved by width; strings are copied as objects; sub-byte types are
// not handled here.
#pragma once

#include <memory>

#include "ops/kernel.h"

namespace sardonyx {

// Strides and offset count elements of the source. The shape must be that of the output.
struct StridedCopy {
  int64_t elements = 0;
  int64_t offset = 0;
  SmallVector<int64_t, 6> dims;  // merged; the last is the inner run
  SmallVector<int64_t, 6> strides;

  // Copies output elements [part.begin, part.end) of `type`.
  void run(DataType type, const void* source, void* out, Range part) const;
};

StridedCopy plan_strided_copy(const Shape& output, std::span<const int64_t> strides,
                              int64_t offset = 0);

// Row-major strides of a shape, in elements.
SmallVector<int64_t, 6> row_major_strides(const Shape& shape);

// Base of kernels that are one strided copy of input 0 into output 0.
class StridedCopyKernel : public Kernel {
 public:
  Status resolve(const ResolveContext& context, StepPlan& plan) const override;
  Status run(const RunContext& context) const override;

 protected:
  virtual Status plan_copy(const ResolveContext& context, StridedCopy& copy) const = 0;
};

// Output 0 = the bytes of input 0 (operators that only change the shape).
std::unique_ptr<Kernel> make_copy_kernel();

// Elements of one unit when copies are shared out, and their cost.
inline constexpr int64_t kCopyUnit = 4096;
inline int64_t copy_units(int64_t elements) { return (elements + kCopyUnit - 1) / kCopyUnit; }
Range copy_part(const RunContext& context, int64_t elements);
double copy_nanoseconds(DataType type);  // per unit

}  // namespace sardonyx
