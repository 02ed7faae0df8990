#include "ops/shape/strided_copy.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "ops/typed.h"

namespace sardonyx {
namespace {

template <typename T>
void copy_run(const T* from, int64_t stride, T* to, int64_t n) {
  if (stride == 1) {
    std::copy_n(from, n, to);
  } else if (stride == 0) {
    std::fill_n(to, n, *from);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * stride];
  }
}

template <typename T>
void copy_strided(const StridedCopy& copy, const T* source, T* out, Range part) {
  const size_t last = copy.dims.size() - 1;
  const int64_t inner = copy.dims[last];
  const int64_t inner_stride = copy.strides[last];
  SmallVector<int64_t, 6> index(last, 0);
  int64_t base = copy.offset;
  int64_t rest = part.begin / inner;
  for (size_t axis = last; axis-- > 0;) {
    index[axis] = rest % copy.dims[axis];
    rest /= copy.dims[axis];
    base += index[axis] * copy.strides[axis];
  }
  int64_t start = part.begin % inner;
  for (int64_t at = part.begin; at < part.end;) {
    const int64_t n = std::min(inner - start, part.end - at);
    copy_run(source + base + start * inner_stride, inner_stride, out + at, n);
    at += n;
    start = 0;
    for (size_t axis = last; axis-- > 0;) {
      base += copy.strides[axis];
      if (++index[axis] < copy.dims[axis]) break;
      base -= copy.dims[axis] * copy.strides[axis];
      index[axis] = 0;
    }
  }
}

class CopyKernel final : public Kernel {
 public:
  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    if (context.input_type(0) == DataType::kString) return Status::ok();
    plan.split(copy_units(bytes_of(context)), 150.0);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const TensorView& in = context.input(0);
    const TensorView& out = context.output(0);
    if (in.data == out.data) return Status::ok();
    if (in.type == DataType::kString) {
      std::copy_n(in.as<std::string>(), in.size(), out.as<std::string>());
      return Status::ok();
    }
    const Range part = copy_part(context, in.size_bytes());
    if (part.begin < part.end) {
      std::memcpy(out.as<char>() + part.begin, in.as<char>() + part.begin,
                  static_cast<size_t>(part.end - part.begin));
    }
    return Status::ok();
  }

 private:
  static int64_t bytes_of(const ResolveContext& context) {
    return *storage_bytes(context.input_type(0), element_count(context.input_shape(0)));
  }
};

}  // namespace

void StridedCopy::run(DataType type, const void* source, void* out, Range part) const {
  if (part.begin >= part.end) return;
  visit_width(type, [&]<typename T>(TypeTag<T>) {
    copy_strided(*this, static_cast<const T*>(source), static_cast<T*>(out), part);
  });
}

StridedCopy plan_strided_copy(const Shape& output, std::span<const int64_t> strides,
                              int64_t offset) {
  StridedCopy copy;
  copy.elements = element_count(output);
  copy.offset = offset;
  for (size_t i = 0; i < output.size(); ++i) {
    if (output[i] == 1) continue;
    if (!copy.dims.empty() && copy.strides.back() == strides[i] * output[i]) {
      copy.dims.back() *= output[i];
      copy.strides.back() = strides[i];
    } else {
      copy.dims.push_back(output[i]);
      copy.strides.push_back(strides[i]);
    }
  }
  if (copy.dims.empty()) {
    copy.dims.push_back(1);
    copy.strides.push_back(1);
  }
  return copy;
}

SmallVector<int64_t, 6> row_major_strides(const Shape& shape) {
  SmallVector<int64_t, 6> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

Status StridedCopyKernel::resolve(const ResolveContext& context, StepPlan& plan) const {
  auto copy = std::make_shared<StridedCopy>();
  SDX_RETURN_IF_FAILED(plan_copy(context, *copy));
  plan.split(copy_units(copy->elements), copy_nanoseconds(context.input_type(0)));
  plan.state = std::move(copy);
  return Status::ok();
}

Status StridedCopyKernel::run(const RunContext& context) const {
  const auto& copy = context.state_as<StridedCopy>();
  copy.run(context.input(0).type, context.input(0).data, context.output(0).data,
           copy_part(context, copy.elements));
  return Status::ok();
}

std::unique_ptr<Kernel> make_copy_kernel() { return std::make_unique<CopyKernel>(); }

Range copy_part(const RunContext& context, int64_t elements) {
  const Range units = context.part(copy_units(elements));
  return {std::min(units.begin * kCopyUnit, elements), std::min(units.end * kCopyUnit, elements)};
}

double copy_nanoseconds(DataType type) {
  const double per_element = type == DataType::kString ? 20.0 : 0.1 + 0.04 * bits_of(type) / 8;
  return per_element * static_cast<double>(kCopyUnit);
}

}  // namespace sardonyx
