// Linear and cubic resizing: one axis after the other, in the chunk's own buffers.
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/resize/resize.h"
#include "ops/typed.h"
#include "ops/widen.h"

namespace sardonyx {
namespace {

struct Pass {
  int64_t before = 1, in = 1, out = 1, after = 1;
  ResizeTaps table;
};

struct State {
  std::vector<Pass> passes;
  int64_t units = 1;                  // samples that are resized on their own
  int64_t unit_in = 1, unit_out = 1;  // elements of one
  int64_t buffer = 0;                 // elements of each of two intermediate buffers
};

// Rounds to nearest even and saturates for integers.
template <typename T, typename C>
T finish(C value) {
  if constexpr (std::is_integral_v<T>) {
    return truncate_saturate<T>(std::nearbyint(static_cast<double>(value)));
  } else {
    return static_cast<T>(value);
  }
}

template <typename C, typename From, typename To>
void run_pass(const Pass& pass, C extrapolation, const From* in, To* out) {
  const ResizeTaps& table = pass.table;
  for (int64_t b = 0; b < pass.before; ++b, in += pass.in * pass.after) {
    for (int64_t o = 0; o < pass.out; ++o, out += pass.after) {
      if (!table.outside.empty() && table.outside[static_cast<size_t>(o)] != 0) {
        std::fill_n(out, pass.after, finish<To>(extrapolation));
        continue;
      }
      const int32_t* index = table.index.data() + o * table.taps;
      const double* weight = table.weight.data() + o * table.taps;
      for (int64_t i = 0; i < pass.after; ++i) {
        C sum = 0;
        for (int64_t tap = 0; tap < table.taps; ++tap) {
          sum += static_cast<C>(weight[tap]) * static_cast<C>(in[index[tap] * pass.after + i]);
        }
        out[i] = finish<To>(sum);
      }
    }
  }
}

// T: the type of the elements; C: the type of sums and intermediate values.
template <typename T, typename C>
class InterpolateKernel final : public Kernel {
 public:
  InterpolateKernel(ResizeParams params, int64_t components)
      : params_(std::move(params)), components_(components) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& in = context.input_shape(0);
    const Shape& out = context.output_shape(0);
    if (element_count(in) == 0 && element_count(out) != 0) {
      return Status(ErrorCode::kInvalidArgument, "Resize: the input is empty, the output is not");
    }
    auto s = std::make_shared<State>();
    const std::vector<ResizeAxis> axes =
        settle_resize(params_, read_resize_inputs(params_, context), in, out);
    size_t first = 0;
    while (first < axes.size() && axes[first].is_identity()) s->units *= axes[first++].in;
    s->unit_in = element_count(in, first, in.size()) * components_;
    s->unit_out = element_count(out, first, out.size()) * components_;
    // The last axis first: later passes then run along contiguous rows.
    int64_t after = components_, work = s->unit_out;
    for (size_t i = axes.size(); i-- > first;) {
      if (!axes[i].is_identity()) {
        Pass pass;
        pass.before = element_count(in, first, i);
        pass.in = axes[i].in;
        pass.out = axes[i].out;
        pass.after = after;
        pass.table = interpolation_table(params_, axes[i]);
        const int64_t size = pass.before * pass.out * pass.after;
        s->buffer = std::max(s->buffer, size);
        work += size * pass.table.taps;
        s->passes.push_back(std::move(pass));
      }
      after *= axes[i].out;
    }
    if (s->passes.size() < 2) s->buffer = 0;
    plan.scratch_bytes_per_chunk = 2 * s->buffer * static_cast<int64_t>(sizeof(C));
    plan.split(s->units, 1.0 * static_cast<double>(work));
    plan.state = std::move(s);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& s = context.state_as<State>();
    const Range units = context.part(s.units);
    const C fill = static_cast<C>(params_.extrapolation);
    std::array<C*, 2> buffers = {reinterpret_cast<C*>(context.chunk_scratch),
                                 reinterpret_cast<C*>(context.chunk_scratch) + s.buffer};
    for (int64_t unit = units.begin; unit < units.end; ++unit) {
      const T* in = context.in<T>(0) + unit * s.unit_in;
      T* out = context.out<T>(0) + unit * s.unit_out;
      const size_t count = s.passes.size();
      if (count == 0) {
        std::copy_n(in, s.unit_in, out);
        continue;
      }
      if (count == 1) {
        run_pass<C>(s.passes[0], fill, in, out);
        continue;
      }
      run_pass<C>(s.passes[0], fill, in, buffers[0]);
      for (size_t i = 1; i + 1 < count; ++i) {
        run_pass<C>(s.passes[i], fill, buffers[(i - 1) % 2], buffers[i % 2]);
      }
      run_pass<C>(s.passes[count - 1], fill, buffers[(count - 2) % 2], out);
    }
    return Status::ok();
  }

 private:
  ResizeParams params_;
  int64_t components_;  // 2 for complex numbers
};

}  // namespace

std::unique_ptr<Kernel> prepare_resize_interpolate(const PrepareContext& context,
                                                   ResizeParams params) {
  const DataType type = context.input_element(0);
  std::unique_ptr<Kernel> kernel;
  const bool is_integer_type = visit_integers(type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    kernel = std::make_unique<InterpolateKernel<T, double>>(std::move(params), 1);
  });
  if (is_integer_type) return kernel;
  const int64_t components = type == DataType::kComplex64 || type == DataType::kComplex128 ? 2 : 1;
  switch (type) {
    case DataType::kDouble:
    case DataType::kComplex128:
      return std::make_unique<InterpolateKernel<double, double>>(std::move(params), components);
    case DataType::kFloat:
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kComplex64:
      // Cubic and antialiasing weights cancel: sum them in double.
      if (params.mode == ResizeMode::kLinear && !params.antialias) {
        kernel = std::make_unique<InterpolateKernel<float, float>>(std::move(params), components);
      } else {
        kernel = std::make_unique<InterpolateKernel<float, double>>(std::move(params), components);
      }
      return components == 2 ? std::move(kernel)
                             : widen(context, std::move(kernel), DataType::kFloat, ~1u);
    default:
      context.unsupported("linear and cubic: numbers; nearest: every type");
  }
}

}  // namespace sardonyx
