#include "ops/widen.h"

#include <vector>

#include "ops/typed.h"

namespace sardonyx {
namespace {

bool is_convertible(DataType type) {
  return type == DataType::kFloat || type == DataType::kDouble || type == DataType::kFloat16 ||
         type == DataType::kBfloat16;
}

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

template <typename C>
void load(DataType type, const void* from, Range range, C* to) {
  visit_floats(type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const T* source = static_cast<const T*>(from);
    for (int64_t i = range.begin; i < range.end; ++i) to[i] = static_cast<C>(source[i]);
  });
}

template <typename C>
void store(DataType type, const C* from, Range range, void* to) {
  visit_floats(type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    T* target = static_cast<T*>(to);
    for (int64_t i = range.begin; i < range.end; ++i) {
      if constexpr (kIsNarrow<T>) {
        target[i] = T::from(from[i]);
      } else {
        target[i] = static_cast<T>(from[i]);
      }
    }
  });
}

// Where a converted operand lies in scratch; bytes < 0: it is passed as it is.
struct Slot {
  int64_t offset = -1;
  int64_t size = 0;
};

struct WidenState {
  std::vector<Slot> inputs, outputs;
  StepPlan inner;
  int64_t inner_offset = 0;
};

constexpr size_t kMaxOperands = 8;

template <typename C>
class WideningKernel final : public Kernel {
 public:
  WideningKernel(std::unique_ptr<Kernel> kernel, DataType compute, uint32_t keep)
      : kernel_(std::move(kernel)), compute_(compute), keep_(keep) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto state = std::make_shared<WidenState>();
    int64_t offset = 0, elements = 0;
    const auto place = [&](DataType type, const Shape& shape, bool convert) {
      Slot slot;
      if (convert && is_convertible(type) && type != compute_) {
        slot.size = element_count(shape);
        slot.offset = offset;
        offset += aligned(slot.size * static_cast<int64_t>(sizeof(C)));
        elements += slot.size;
      }
      return slot;
    };
    std::vector<TensorView> views(context.input_count() + context.output_count());
    std::vector<const TensorView*> inputs, outputs;
    for (size_t i = 0; i < context.input_count(); ++i) {
      TensorView& view = views[i];
      inputs.push_back(&view);
      state->inputs.emplace_back();
      if (!context.has_input(i)) continue;
      view = context.input_values(i);
      state->inputs[i] = place(view.type, view.shape, (keep_ >> i & 1) == 0);
      if (state->inputs[i].offset >= 0) view.type = compute_;
    }
    for (size_t i = 0; i < context.output_count(); ++i) {
      TensorView& view = views[context.input_count() + i];
      outputs.push_back(&view);
      state->outputs.emplace_back();
      if (!context.has_output(i)) continue;
      view.type = context.output_type(i);
      view.shape = context.output_shape(i);
      state->outputs[i] = place(view.type, view.shape, true);
      if (state->outputs[i].offset >= 0) view.type = compute_;
    }
    StepPlan& inner = state->inner;
    SDX_RETURN_IF_FAILED(kernel_->resolve(ResolveContext(context.node(), inputs, outputs), inner));
    if (inner.phases + 2 > kMaxPhases) {
      return Status(ErrorCode::kNotImplemented, "the kernel has too many phases to be widened");
    }
    plan.phases = inner.phases + 2;
    plan.split(0, elements, 2.0);
    for (int phase = 0; phase < inner.phases; ++phase) {
      plan.chunks[static_cast<size_t>(phase) + 1] = inner.chunks[static_cast<size_t>(phase)];
    }
    plan.split(plan.phases - 1, elements, 2.0);
    state->inner_offset = offset;
    plan.scratch_bytes = offset + inner.scratch_bytes;
    plan.scratch_bytes_per_chunk = inner.scratch_bytes_per_chunk;
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& state = context.state_as<WidenState>();
    if (context.phase == 0) {
      for (size_t i = 0; i < state.inputs.size(); ++i) {
        const Slot& slot = state.inputs[i];
        if (slot.offset < 0) continue;
        load(context.input(i).type, context.input(i).data, context.part(slot.size),
             at(context, slot));
      }
      return Status::ok();
    }
    if (context.phase == state.inner.phases + 1) {
      for (size_t i = 0; i < state.outputs.size(); ++i) {
        const Slot& slot = state.outputs[i];
        if (slot.offset < 0) continue;
        store(context.output(i).type, at(context, slot), context.part(slot.size),
              context.output(i).data);
      }
      return Status::ok();
    }
    // Views without shapes: copying a long shape could allocate.
    std::array<TensorView, 2 * kMaxOperands> views;
    std::array<const TensorView*, kMaxOperands> inputs{};
    std::array<TensorView*, kMaxOperands> outputs{};
    for (size_t i = 0; i < state.inputs.size(); ++i) {
      inputs[i] = context.inputs[i];
      if (state.inputs[i].offset < 0) continue;
      views[i] = {compute_, {}, at(context, state.inputs[i])};
      inputs[i] = &views[i];
    }
    for (size_t i = 0; i < state.outputs.size(); ++i) {
      outputs[i] = context.outputs[i];
      if (state.outputs[i].offset < 0) continue;
      views[kMaxOperands + i] = {compute_, {}, at(context, state.outputs[i])};
      outputs[i] = &views[kMaxOperands + i];
    }
    RunContext inner = context;
    inner.inputs = {inputs.data(), state.inputs.size()};
    inner.outputs = {outputs.data(), state.outputs.size()};
    inner.state = state.inner.state.get();
    inner.scratch = context.scratch + state.inner_offset;
    inner.phase = context.phase - 1;
    return kernel_->run(inner);
  }

 private:
  static C* at(const RunContext& context, const Slot& slot) {
    return reinterpret_cast<C*>(context.scratch + slot.offset);
  }

  std::unique_ptr<Kernel> kernel_;
  DataType compute_;
  uint32_t keep_;
};

template <typename Visit>
void for_each_element_type(const PrepareContext& context, uint32_t keep, Visit visit) {
  for (size_t i = 0; i < context.input_count(); ++i) {
    if ((keep >> i & 1) == 0) visit(context.input_element(i));
  }
  for (size_t i = 0; i < context.output_types.size(); ++i) visit(context.output_element(i));
}

}  // namespace

DataType compute_type(const PrepareContext& context) {
  if (!is_convertible(context.input_element(0))) {
    context.unsupported("float16, bfloat16, float, double");
  }
  DataType compute = DataType::kFloat;
  for_each_element_type(context, 0, [&](DataType type) {
    if (type == DataType::kDouble) compute = DataType::kDouble;
  });
  return compute;
}

std::unique_ptr<Kernel> widen(const PrepareContext& context, std::unique_ptr<Kernel> kernel,
                              DataType compute, uint32_t keep) {
  bool needed = false;
  for_each_element_type(context, keep, [&](DataType type) {
    if (is_convertible(type) && type != compute) needed = true;
  });
  if (!needed) return kernel;
  if (context.input_count() > kMaxOperands || context.output_types.size() > kMaxOperands) {
    context.unsupported("fewer operands, or one floating type for all");
  }
  if (compute == DataType::kDouble) {
    return std::make_unique<WideningKernel<double>>(std::move(kernel), compute, keep);
  }
  return std::make_unique<WideningKernel<float>>(std::move(kernel), compute, keep);
}

}  // namespace sardonyx
