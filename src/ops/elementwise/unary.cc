#include "ops/elementwise/unary.h"

#include <algorithm>

#include "ops/elementwise/narrow.h"

namespace sardonyx {
namespace {

constexpr int64_t kUnit = 1024;  // elements of a unit of work

class UnaryKernel : public Kernel {
 public:
  explicit UnaryKernel(double nanoseconds) : nanoseconds_(nanoseconds) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const int64_t count = element_count(context.input_shape(0));
    plan.split((count + kUnit - 1) / kUnit, nanoseconds_ * kUnit);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const int64_t count = context.input(0).size();
    const Range units = context.part((count + kUnit - 1) / kUnit);
    const int64_t begin = units.begin * kUnit;
    const int64_t end = std::min(units.end * kUnit, count);
    if (begin < end) apply(context, begin, end - begin);
    return Status::ok();
  }

 protected:
  virtual void apply(const RunContext& context, int64_t begin, int64_t n) const = 0;

 private:
  double nanoseconds_;
};

class FloatKernel final : public UnaryKernel {
 public:
  FloatKernel(kernels::UnaryFunction function, double nanoseconds, float alpha, float beta)
      : UnaryKernel(nanoseconds), function_(function), alpha_(alpha), beta_(beta) {}

 protected:
  void apply(const RunContext& context, int64_t begin, int64_t n) const override {
    function_(context.in<float>(0) + begin, context.out<float>(0) + begin, n, alpha_, beta_);
  }

 private:
  kernels::UnaryFunction function_;
  float alpha_, beta_;
};

class NarrowKernel final : public UnaryKernel {
 public:
  NarrowKernel(DataType type, kernels::UnaryFunction function, double nanoseconds, float alpha,
               float beta)
      : UnaryKernel(nanoseconds + 2.0),
        type_(type),
        function_(function),
        alpha_(alpha),
        beta_(beta) {}

 protected:
  void apply(const RunContext& context, int64_t begin, int64_t n) const override {
    float buffer[kNarrowBlock];
    for (int64_t at = begin; at < begin + n; at += kNarrowBlock) {
      const int64_t count = std::min(kNarrowBlock, begin + n - at);
      widen(type_, context.in<uint16_t>(0) + at, buffer, count);
      function_(buffer, buffer, count, alpha_, beta_);
      round_back(type_, buffer, context.out<uint16_t>(0) + at, count);
    }
  }

 private:
  DataType type_;
  kernels::UnaryFunction function_;
  float alpha_, beta_;
};

class DoubleKernel final : public UnaryKernel {
 public:
  DoubleKernel(double (*function)(double, double, double), double alpha, double beta)
      : UnaryKernel(10.0), function_(function), alpha_(alpha), beta_(beta) {}

 protected:
  void apply(const RunContext& context, int64_t begin, int64_t n) const override {
    const double* in = context.in<double>(0) + begin;
    double* out = context.out<double>(0) + begin;
    for (int64_t i = 0; i < n; ++i) out[i] = function_(in[i], alpha_, beta_);
  }

 private:
  double (*function_)(double, double, double);
  double alpha_, beta_;
};

class LoopKernel final : public UnaryKernel {
 public:
  LoopKernel(UnaryLoop loop, int element_bytes, double nanoseconds)
      : UnaryKernel(nanoseconds), loop_(loop), element_bytes_(element_bytes) {}

 protected:
  void apply(const RunContext& context, int64_t begin, int64_t n) const override {
    loop_(context.in<char>(0) + begin * element_bytes_,
          context.out<char>(0) + begin * element_bytes_, n);
  }

 private:
  UnaryLoop loop_;
  int64_t element_bytes_;
};

}  // namespace

std::unique_ptr<Kernel> prepare_unary(const PrepareContext& context, const UnaryRow& row,
                                      double alpha, double beta) {
  const DataType type = context.input_element(0);
  const kernels::UnaryFunction function = kernels::unary_kernels(context.isa)[row.kernel];
  const auto low = static_cast<float>(alpha);
  const auto high = static_cast<float>(beta);
  if (type == DataType::kFloat) {
    return std::make_unique<FloatKernel>(function, row.nanoseconds, low, high);
  }
  if (type == DataType::kDouble) return std::make_unique<DoubleKernel>(row.in_double, alpha, beta);
  if (is_narrow(type)) {
    return std::make_unique<NarrowKernel>(type, function, row.nanoseconds, low, high);
  }
  context.unsupported("float, double, float16, bfloat16");
}

std::unique_ptr<Kernel> make_unary_kernel(UnaryLoop loop, int element_bytes, double nanoseconds) {
  return std::make_unique<LoopKernel>(loop, element_bytes, nanoseconds);
}

}  // namespace sardonyx
