#include "ops/elementwise/binary.h"

#include <fmt/format.h>

#include "ops/elementwise/loop.h"
#include "ops/elementwise/narrow.h"

namespace sardonyx {
namespace {

// Operators before opset 7 broadcast in one direction, when told to.
bool is_unidirectional(const Node& node) { return node.version < 7; }

std::optional<int64_t> axis_of(const Node& node) {
  if (!node.attributes.contains("axis")) return std::nullopt;
  return node.attributes.get_int("axis", 0);
}

int64_t width_of(DataType type) { return *storage_bytes(type, 1); }

const char* advance(const void* data, int64_t elements, int64_t width) {
  return static_cast<const char*>(data) + elements * width;
}
char* advance(void* data, int64_t elements, int64_t width) {
  return static_cast<char*>(data) + elements * width;
}

class BinaryKernel final : public Kernel {
 public:
  BinaryKernel(const BinaryCode& code, bool unidirectional, std::optional<int64_t> axis)
      : code_(code),
        unidirectional_(unidirectional),
        axis_(axis),
        a_width_(width_of(code.a_type)),
        b_width_(width_of(code.b_type)),
        out_width_(width_of(code.out_type)) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& output = context.output_shape(0);
    Shape shapes[2] = {context.input_shape(0), context.input_shape(1)};
    if (unidirectional_) shapes[1] = align_at_axis(shapes[1], shapes[0].size(), axis_);
    auto loop = std::make_shared<BroadcastLoop>(plan_broadcast(output, shapes));
    plan.split(loop_units(loop->elements), code_.nanoseconds * kLoopUnit);
    plan.state = std::move(loop);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const auto& loop = context.state_as<BroadcastLoop>();
    const void* a = context.input(0).data;
    const void* b = context.input(1).data;
    void* out = context.output(0).data;
    loop.run(loop_part(context, loop.elements), [&](const auto& offset, int64_t at, int64_t n) {
      code_.apply(advance(a, offset[0], a_width_), loop.step[0], advance(b, offset[1], b_width_),
                  loop.step[1], advance(out, at, out_width_), n);
    });
    return Status::ok();
  }

 private:
  BinaryCode code_;
  bool unidirectional_;
  std::optional<int64_t> axis_;
  int64_t a_width_, b_width_, out_width_;
};

class FoldKernel final : public Kernel {
 public:
  explicit FoldKernel(const BinaryCode& code, const BinaryCode* divide = nullptr)
      : code_(code),
        divide_(divide != nullptr ? std::optional(*divide) : std::nullopt),
        width_(width_of(code.a_type)) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& output = context.output_shape(0);
    auto loops = std::make_shared<std::vector<BroadcastLoop>>();
    for (size_t i = 1; i < std::max<size_t>(context.input_count(), 2); ++i) {
      // The first pair reads input 0; later ones read what is in the output already.
      const size_t second = i < context.input_count() ? i : 0;
      const Shape shapes[2] = {i == 1 ? context.input_shape(0) : output,
                               context.input_shape(second)};
      loops->push_back(plan_broadcast(output, shapes));
    }
    const int64_t elements = element_count(output);
    plan.split(loop_units(elements),
               code_.nanoseconds * kLoopUnit * static_cast<double>(loops->size()));
    plan.state = std::move(loops);
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const auto& loops = context.state_as<std::vector<BroadcastLoop>>();
    void* out = context.output(0).data;
    const Range part = loop_part(context, loops[0].elements);
    if (context.inputs.size() == 1) {
      if (out != context.input(0).data && part.begin < part.end) {
        std::copy_n(advance(context.input(0).data, part.begin, width_),
                    (part.end - part.begin) * width_, advance(out, part.begin, width_));
      }
      return Status::ok();
    }
    for (size_t i = 0; i < loops.size(); ++i) {
      const BroadcastLoop& loop = loops[i];
      const void* a = i == 0 ? context.input(0).data : out;
      const void* b = context.input(i + 1).data;
      loop.run(part, [&](const auto& offset, int64_t at, int64_t n) {
        code_.apply(advance(a, offset[0], width_), loop.step[0], advance(b, offset[1], width_),
                    loop.step[1], advance(out, at, width_), n);
      });
    }
    if (divide_ && part.begin < part.end) {
      void* own = advance(out, part.begin, width_);
      visit_floats(code_.a_type, [&]<typename T>(TypeTag<T>) {
        const T count = from_compute<T>(static_cast<Compute<T>>(context.inputs.size()));
        divide_->apply(own, 1, &count, 0, own, part.end - part.begin);
      });
    }
    return Status::ok();
  }

 private:
  BinaryCode code_;
  std::optional<BinaryCode> divide_;
  int64_t width_;
};

// The elements of a op b when one has one element or both have the same number.
void track(InferContext& context, DataType element, DimRule rule, size_t first, size_t second,
           std::optional<Dims>& result) {
  const std::optional<Dims> a = first == SIZE_MAX ? result : context.input_ints(first);
  const std::optional<Dims> b = context.input_ints(second);
  result.reset();
  if (!a || !b || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) return;
  if (a->empty() || b->empty()) {
    result = Dims();
    return;
  }
  Dims dims;
  for (size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
    const Dim dim =
        rule(context.dims(), (*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    dims.push_back(fits_element(element, dim) ? dim : Dim::unknown());
  }
  result = std::move(dims);
}

bool is_at_most_vector(const InferContext& context, size_t i) {
  const SymShape& shape = context.input_shape(i);
  return shape && shape->size() <= 1;
}

SymShape infer_unidirectional(InferContext& context) {
  const SymShape& a = context.input_shape(0);
  const SymShape& b = context.input_shape(1);
  if (!a || !b) return a;
  const bool broadcast = context.node().attributes.get_int("broadcast", 0) != 0;
  std::optional<int64_t> axis = axis_of(context.node());
  if (axis && *axis < 0) axis.reset();
  const size_t start =
      axis ? static_cast<size_t>(*axis) : a->size() - std::min(a->size(), b->size());
  const bool aligned = start + b->size() <= a->size() && (broadcast || a->size() == b->size());
  bool matches = aligned;
  for (size_t i = 0; aligned && i < b->size(); ++i) {
    const Dim& dim = (*b)[i];
    const Dim& of = (*a)[start + i];
    if (dim.is_known() && of.is_known() && dim.value != of.value && !(broadcast && dim.is(1))) {
      matches = false;
    }
  }
  if (!matches) {
    context.fail(fmt::format("the second shape does not match the first from axis {} on{}", start,
                             broadcast ? "" : " (attribute 'broadcast' is 0)"));
  }
  return a;
}

}  // namespace

void BinaryCode::apply(const void* a, int a_step, const void* b, int b_step, void* out,
                       int64_t n) const {
  if (loop != nullptr) return loop(a, a_step, b, b_step, out, n);
  if (a_type == DataType::kFloat) {
    return float_loop(static_cast<const float*>(a), a_step, static_cast<const float*>(b), b_step,
                      static_cast<float*>(out), n);
  }
  float x[kNarrowBlock];
  float y[kNarrowBlock];
  const int64_t out_width = out_type == DataType::kBool ? 1 : 2;
  for (int64_t at = 0; at < n; at += kNarrowBlock) {
    const int64_t count = std::min(kNarrowBlock, n - at);
    widen(a_type, advance(a, at * a_step, 2), x, a_step == 1 ? count : 1);
    widen(a_type, advance(b, at * b_step, 2), y, b_step == 1 ? count : 1);
    if (widened_loop != nullptr) {
      widened_loop(x, a_step, y, b_step, advance(out, at, out_width), count);
      continue;
    }
    // The result takes the place of a moving operand, or of x when there is none.
    float* z = a_step == 1 || b_step == 0 ? x : y;
    float fixed[2] = {x[0], y[0]};
    float_loop(a_step == 1 ? x : &fixed[0], a_step, b_step == 1 ? y : &fixed[1], b_step, z, count);
    round_back(a_type, z, advance(out, at, out_width), count);
  }
}

std::unique_ptr<Kernel> make_binary_kernel(const Node& node, const BinaryCode& code) {
  return std::make_unique<BinaryKernel>(code, is_unidirectional(node), axis_of(node));
}

std::unique_ptr<Kernel> make_aligned_kernel(const BinaryCode& code, int64_t axis) {
  return std::make_unique<BinaryKernel>(code, true, axis);
}

std::unique_ptr<Kernel> make_fold_kernel(const BinaryCode& code) {
  return std::make_unique<FoldKernel>(code);
}

std::unique_ptr<Kernel> make_mean_kernel(const BinaryCode& code, const BinaryCode& divide) {
  return std::make_unique<FoldKernel>(code, &divide);
}

void infer_binary(InferContext& context, DataType element, DimRule rule) {
  if (element == DataType::kUndefined) element = context.input_element(0);
  if (is_unidirectional(context.node())) {
    context.set_output(0, element, infer_unidirectional(context));
  } else {
    constexpr size_t kInputs[] = {0, 1};
    context.set_output(0, element, context.broadcast_inputs(kInputs));
  }
  if (rule != nullptr && is_at_most_vector(context, 0) && is_at_most_vector(context, 1)) {
    std::optional<Dims> ints;
    track(context, element, rule, 0, 1, ints);
    if (ints) context.set_output_ints(0, *ints);
  }
}

void infer_fold(InferContext& context, DimRule rule) {
  const DataType element = context.input_element(0);
  SmallVector<size_t, 8> inputs;
  bool trackable = rule != nullptr;
  for (size_t i = 0; i < context.input_count(); ++i) {
    inputs.push_back(i);
    trackable = trackable && is_at_most_vector(context, i);
  }
  context.set_output(0, element, context.broadcast_inputs(inputs));
  if (!trackable) return;
  std::optional<Dims> ints = context.input_ints(0);
  for (size_t i = 1; i < context.input_count() && ints; ++i) {
    track(context, element, rule, SIZE_MAX, i, ints);
  }
  if (ints) context.set_output_ints(0, *ints);
}

}  // namespace sardonyx
