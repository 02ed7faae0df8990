#include <cmath>
#include <limits>

#include "kernels/softmax/softmax.h"
#include "ops/softmax/softmax.h"
#include "ops/widen.h"

namespace sardonyx {

SoftmaxParams parse_softmax(const Node& node) {
  const bool flatten = node.version != 0 && node.version < 13;
  return {node.attributes.get_int("axis", flatten ? 1 : -1), flatten};
}

void infer_softmax(InferContext& context) {
  const SoftmaxParams params = parse_softmax(context.node());
  if (const SymShape& shape = context.input_shape(0)) {
    const auto rank = static_cast<int64_t>(shape->size());
    // Flattening accepts an axis behind the last dimension, and scalars.
    if (!(params.flatten && params.axis == rank) && rank > 0) {
      context.normalize_axis(params.axis, shape->size());
    }
  }
  context.same_as_input();
}

SoftmaxView softmax_view(const SoftmaxParams& params, const Shape& shape) {
  SoftmaxView view;
  const auto rank = static_cast<int64_t>(shape.size());
  if (rank == 0) return view;
  const auto axis = static_cast<size_t>(params.axis < 0 ? params.axis + rank : params.axis);
  view.outer = element_count(shape, 0, axis);
  if (params.flatten) {
    view.length = element_count(shape, axis, shape.size());
  } else {
    view.length = shape[axis];
    view.inner = element_count(shape, axis + 1, shape.size());
  }
  return view;
}

namespace {

constexpr int64_t kInnerBlock = 64;  // inner positions of one unit of work

struct State {
  SoftmaxView view;
  int64_t blocks = 1;  // of inner
};

// One lane of the generic path: elements `step` apart. Output may be the input.
template <typename T, bool kLog>
void softmax_lane(const T* in, int64_t length, int64_t step, T* out) {
  T most = -std::numeric_limits<T>::infinity();
  for (int64_t i = 0; i < length; ++i) {
    const T x = in[i * step];
    if (!(x <= most)) most = x;  // NaN stays
  }
  T sum = 0;
  for (int64_t i = 0; i < length; ++i) {
    const T shifted = in[i * step] - most;
    const T power = std::exp(shifted);
    sum += power;
    out[i * step] = kLog ? shifted : power;
  }
  const T norm = kLog ? std::log(sum) : sum;
  for (int64_t i = 0; i < length; ++i) {
    out[i * step] = kLog ? out[i * step] - norm : out[i * step] / norm;
  }
}

template <typename T, bool kLog>
class SoftmaxKernel final : public Kernel {
 public:
  SoftmaxKernel(SoftmaxParams params, Isa isa)
      : params_(params), kernels_(kernels::softmax_kernels(isa)) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto state = std::make_shared<State>();
    state->view = softmax_view(params_, context.input_shape(0));
    const SoftmaxView& v = state->view;
    state->blocks = (v.inner + kInnerBlock - 1) / kInnerBlock;
    const double elements = static_cast<double>(v.length * std::min(v.inner, kInnerBlock));
    plan.split(v.outer * state->blocks, (std::is_same_v<T, float> ? 1.0 : 20.0) * elements);
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& state = context.state_as<State>();
    const SoftmaxView& v = state.view;
    const Range part = context.part(v.outer * state.blocks);
    if (v.length == 0 || part.begin == part.end) return Status::ok();
    const T* in = context.in<T>(0);
    T* out = context.out<T>(0);
    if constexpr (std::is_same_v<T, float>) {
      if (v.inner == 1) {
        (kLog ? kernels_.log_softmax : kernels_.softmax)(part.end - part.begin, v.length,
                                                         in + part.begin * v.length, v.length,
                                                         out + part.begin * v.length, v.length);
        return Status::ok();
      }
    }
    for (int64_t unit = part.begin; unit < part.end; ++unit) {
      const int64_t first = unit % state.blocks * kInnerBlock;
      const int64_t count = std::min(kInnerBlock, v.inner - first);
      const int64_t offset = unit / state.blocks * v.length * v.inner + first;
      if constexpr (std::is_same_v<T, float>) {
        (kLog ? kernels_.log_softmax_strided : kernels_.softmax_strided)(v.length, count, v.inner,
                                                                         in + offset, out + offset);
      } else {
        for (int64_t i = 0; i < count; ++i) {
          softmax_lane<T, kLog>(in + offset + i, v.length, v.inner, out + offset + i);
        }
      }
    }
    return Status::ok();
  }

 private:
  SoftmaxParams params_;
  const kernels::SoftmaxKernels& kernels_;
};

template <typename T>
using PlainSoftmax = SoftmaxKernel<T, false>;
template <typename T>
using LogSoftmax = SoftmaxKernel<T, true>;

}  // namespace

template <bool kLog>
std::unique_ptr<Kernel> prepare_softmax(const PrepareContext& context) {
  const SoftmaxParams params = parse_softmax(context.node);
  if constexpr (kLog) return floating_kernel<LogSoftmax>(context, params, context.isa);
  return floating_kernel<PlainSoftmax>(context, params, context.isa);
}
template std::unique_ptr<Kernel> prepare_softmax<false>(const PrepareContext& context);
template std::unique_ptr<Kernel> prepare_softmax<true>(const PrepareContext& context);

}  // namespace sardonyx
