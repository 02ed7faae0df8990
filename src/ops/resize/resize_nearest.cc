// Nearest resizing: elements of any type are copied by table.
#include <algorithm>
#include <array>

#include "ops/resize/resize.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

constexpr size_t kMaxRank = 16;

struct State {
  // Input offset of each output position, axis by axis, up to the last resized one; -1: outside.
  std::vector<std::vector<int64_t>> offsets;
  int64_t rows = 1;     // output positions of all but the last of those axes
  int64_t columns = 1;  // of the last one
  int64_t tail = 1;     // contiguous elements behind it
};

template <typename T>
class NearestKernel final : public Kernel {
 public:
  NearestKernel(ResizeParams params, T fill) : params_(std::move(params)), fill_(fill) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& in = context.input_shape(0);
    const Shape& out = context.output_shape(0);
    if (in.size() > kMaxRank) {
      return Status(ErrorCode::kNotImplemented, "Resize: the input has more than 16 dimensions");
    }
    if (element_count(in) == 0 && element_count(out) != 0) {
      return Status(ErrorCode::kInvalidArgument, "Resize: the input is empty, the output is not");
    }
    auto state = std::make_shared<State>();
    const std::vector<ResizeAxis> axes =
        settle_resize(params_, read_resize_inputs(params_, context), in, out);
    size_t count = axes.size();
    while (count > 1 && axes[count - 1].is_identity()) state->tail *= axes[--count].in;
    int64_t stride = state->tail;
    state->offsets.resize(count);
    for (size_t i = count; i-- > 0;) {
      std::vector<int64_t>& table = state->offsets[i];
      if (axes[i].is_identity()) {
        table.resize(static_cast<size_t>(axes[i].out));
        for (size_t j = 0; j < table.size(); ++j) table[j] = static_cast<int64_t>(j);
      } else {
        table = nearest_table(params_, axes[i]);
      }
      for (int64_t& offset : table) offset = offset < 0 ? -1 : offset * stride;
      stride *= axes[i].in;
      if (i + 1 < count) state->rows *= axes[i].out;
    }
    if (count > 0) state->columns = axes[count - 1].out;
    plan.split(state->rows, 0.7 * static_cast<double>(state->columns * state->tail));
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& s = context.state_as<State>();
    const Range part = context.part(s.rows);
    const T* in = context.in<T>(0);
    T* out = context.out<T>(0) + part.begin * s.columns * s.tail;
    if (s.offsets.empty()) {
      *out = *in;
      return Status::ok();
    }
    const std::vector<int64_t>& columns = s.offsets.back();
    for (int64_t row = part.begin; row < part.end; ++row) {
      int64_t base = 0;
      bool outside = false;
      for (size_t i = s.offsets.size() - 1, rest = static_cast<size_t>(row); i-- > 0;) {
        const int64_t offset = s.offsets[i][rest % s.offsets[i].size()];
        rest /= s.offsets[i].size();
        outside |= offset < 0;
        base += offset;
      }
      for (int64_t offset : columns) {
        if (outside || offset < 0) {
          std::fill_n(out, s.tail, fill_);
        } else if (s.tail == 1) {
          *out = in[base + offset];
        } else {
          std::copy_n(in + base + offset, s.tail, out);
        }
        out += s.tail;
      }
    }
    return Status::ok();
  }

 private:
  ResizeParams params_;
  T fill_;
};

// The extrapolation value in the bits of a storage type.
template <typename T>
T fill_bits(DataType type, double value) {
  T bits{};
  if constexpr (!std::is_same_v<T, std::string>) {
    visit_numbers(type, [&](auto tag) {
      using N = typename decltype(tag)::Type;
      if constexpr (sizeof(N) == sizeof(T)) {
        N number;
        if constexpr (kIsNarrow<N>) {
          number = N::from(value);
        } else if constexpr (std::is_integral_v<N>) {
          number = truncate_saturate<N>(value);
        } else {
          number = static_cast<N>(value);
        }
        bits = std::bit_cast<T>(number);
      }
    });
  }
  return bits;
}

}  // namespace

std::unique_ptr<Kernel> prepare_resize_nearest(const PrepareContext& context, ResizeParams params) {
  std::unique_ptr<Kernel> kernel;
  const DataType type = context.input_element(0);
  const bool known = visit_width(type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const T fill = fill_bits<T>(type, params.extrapolation);
    kernel = std::make_unique<NearestKernel<T>>(std::move(params), fill);
  });
  if (!known) context.unsupported("every type of whole bytes");
  return kernel;
}

}  // namespace sardonyx
