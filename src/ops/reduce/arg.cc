#include "ops/reduce/arg.h"

#include <fmt/format.h>

#include "ops/typed.h"

namespace sardonyx {
namespace {

struct ArgParams {
  int64_t axis = 0;
  bool keep_dims = true;
  bool select_last = false;
};

ArgParams parse(const Node& node) {
  return {node.attributes.get_int("axis", 0), node.attributes.get_int("keepdims", 1) != 0,
          node.attributes.get_int("select_last_index", 0) != 0};
}

struct State {
  int64_t outer = 1, length = 1, inner = 1;
};

template <typename T>
class ArgKernel final : public Kernel {
 public:
  ArgKernel(ArgParams params, bool largest) : params_(params), largest_(largest) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& x = context.input_shape(0);
    auto s = std::make_shared<State>();
    if (!x.empty()) {
      const auto rank = static_cast<int64_t>(x.size());
      const auto axis = static_cast<size_t>(params_.axis < 0 ? params_.axis + rank : params_.axis);
      s->outer = element_count(x, 0, axis);
      s->length = x[axis];
      s->inner = element_count(x, axis + 1, x.size());
    }
    if (s->length == 0 && s->outer * s->inner != 0) {
      return Status(ErrorCode::kInvalidArgument, "the position in an empty axis is undefined");
    }
    plan.split(s->outer * s->inner, 1.5 * static_cast<double>(s->length));
    plan.state = std::move(s);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& s = context.state_as<State>();
    const Range part = context.part(s.outer * s.inner);
    for (int64_t lane = part.begin; lane < part.end; ++lane) {
      const T* in = context.in<T>(0) + lane / s.inner * s.length * s.inner + lane % s.inner;
      int64_t best = 0;
      Compute<T> value = to_compute(in[0]);
      for (int64_t i = 1; i < s.length; ++i) {
        const Compute<T> x = to_compute(in[i * s.inner]);
        const bool nan = x != x, best_nan = value != value;
        const bool better = nan ? !best_nan : !best_nan && (largest_ ? x > value : x < value);
        const bool equal = x == value || (nan && best_nan);
        if (better || (equal && params_.select_last)) {
          best = i;
          value = x;
        }
      }
      context.out<int64_t>(0)[lane] = best;
    }
    return Status::ok();
  }

 private:
  ArgParams params_;
  bool largest_;
};

}  // namespace

void infer_arg(InferContext& context) {
  const ArgParams params = parse(context.node());
  const SymShape& x = context.input_shape(0);
  if (!x) return context.set_output(0, DataType::kInt64, std::nullopt);
  if (x->empty()) return context.set_output(0, DataType::kInt64, Dims{});
  const auto axis = static_cast<size_t>(context.normalize_axis(params.axis, x->size()));
  Dims out = *x;
  if (params.keep_dims) {
    out[axis] = 1;
  } else {
    out.erase(out.begin() + axis);
  }
  context.set_output(0, DataType::kInt64, std::move(out));
}

std::unique_ptr<Kernel> prepare_arg(const PrepareContext& context, bool largest) {
  std::unique_ptr<Kernel> kernel;
  const bool known = visit_numbers(context.input_element(0), [&](auto tag) {
    kernel =
        std::make_unique<ArgKernel<typename decltype(tag)::Type>>(parse(context.node), largest);
  });
  if (!known) context.unsupported("numbers of whole bytes");
  return kernel;
}

}  // namespace sardonyx
