#include "ops/elementwise/loop.h"
#include "ops/op.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {9, "condition: B, X: T, Y: T -> output: T | | B: bool, T: @all1"},
    {16, "condition: B, X: T, Y: T -> output: T | | B: bool, T: @all13"},
};

void track(InferContext& context) {
  std::optional<Dims> operands[3];
  size_t count = 1;
  for (size_t i = 0; i < 3; ++i) {
    const SymShape& shape = context.input_shape(i);
    operands[i] = context.input_ints(i);
    if (!shape || shape->size() > 1 || !operands[i]) return;
    if (operands[i]->size() != 1) count = operands[i]->size();
  }
  Dims chosen;
  for (size_t k = 0; k < count; ++k) {
    Dim at[3];
    for (size_t i = 0; i < 3; ++i) {
      if (operands[i]->size() != 1 && operands[i]->size() != count) return;
      at[i] = (*operands[i])[operands[i]->size() == 1 ? 0 : k];
    }
    if (at[0].is_known()) {
      chosen.push_back(at[0].is(0) ? at[2] : at[1]);
    } else {
      chosen.push_back(proven_equal(at[1], at[2]) ? at[1] : Dim::unknown());
    }
  }
  context.set_output_ints(0, std::move(chosen));
}

void infer(InferContext& context) {
  constexpr size_t kInputs[] = {0, 1, 2};
  context.set_output(0, context.input_element(1), context.broadcast_inputs(kInputs));
  track(context);
}

// With steps that the compiler knows, and both elements read in any case, so that it can use
// vectors. `out` may be x or y, which is no dependence between elements.
template <typename T>
void choose_each(const uint8_t* c, const T* x, int x_step, const T* y, int y_step, T* out,
                 int64_t n) {
  if (x_step == 1 && y_step == 1) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const T xi = x[i], yi = y[i];
      out[i] = c[i] != 0 ? xi : yi;
    }
  } else if (x_step == 1) {
    const T y0 = *y;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const T xi = x[i];
      out[i] = c[i] != 0 ? xi : y0;
    }
  } else if (y_step == 1) {
    const T x0 = *x;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const T yi = y[i];
      out[i] = c[i] != 0 ? x0 : yi;
    }
  } else {
    const T x0 = *x, y0 = *y;
    for (int64_t i = 0; i < n; ++i) out[i] = c[i] != 0 ? x0 : y0;
  }
}

template <typename T>
void choose(const RunContext& context, const BroadcastLoop& loop, Range part) {
  const auto* condition = context.in<uint8_t>(0);
  const T* x = context.in<T>(1);
  const T* y = context.in<T>(2);
  T* out = context.out<T>(0);
  const auto [c_step, x_step, y_step] = loop.step;
  loop.run(part, [&](const auto& offset, int64_t at, int64_t n) {
    const uint8_t* c = condition + offset[0];
    if constexpr (std::is_arithmetic_v<T>) {
      if (c_step == 1) {
        return choose_each(c, x + offset[1], x_step, y + offset[2], y_step, out + at, n);
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      const T& chosen = c[i * c_step] != 0 ? x[offset[1] + i * x_step] : y[offset[2] + i * y_step];
      if (&chosen != out + at + i) out[at + i] = chosen;
    }
  });
}

class WhereKernel final : public Kernel {
 public:
  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape shapes[] = {context.input_shape(0), context.input_shape(1), context.input_shape(2)};
    auto loop = std::make_shared<BroadcastLoop>(plan_broadcast(context.output_shape(0), shapes));
    plan.split(loop_units(loop->elements), 0.8 * kLoopUnit);
    plan.state = std::move(loop);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const auto& loop = context.state_as<BroadcastLoop>();
    const Range part = loop_part(context, loop.elements);
    visit_width(context.input(1).type,
                [&]<typename T>(TypeTag<T>) { choose<T>(context, loop, part); });
    return Status::ok();
  }
};

std::unique_ptr<Kernel> prepare(const PrepareContext&) { return std::make_unique<WhereKernel>(); }

}  // namespace

extern const OpDef kWhere = {
    .domain = "",
    .name = "Where",
    .versions = kVersions,
    .traits = kElementwise,
    .in_place = 0b110,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
