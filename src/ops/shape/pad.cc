// Pad: the input continued beyond its borders, axis by axis, by a constant, its last element
// (edge), its mirror image (reflect) or itself (wrap); a negative number crops. Element i of an
// output axis shows position i - begin of the axis continued without end, so that a mirror image
// wider than the axis bounces back, and cropping one side does not change what the other shows.
#include <fmt/format.h>

#include <algorithm>

#include "ops/op.h"
#include "ops/shape/axes.h"
#include "ops/shape/strided_copy.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1,
     "data: T -> output: T | mode: string = 'constant', paddings: ints!, value: float = 0 | T: "
     "@ieee"},
    {2,
     "data: T -> output: T | mode: string = 'constant', pads: ints!, value: float = 0 | T: @ieee"},
    {11,
     "data: T, pads: int64, constant_value: T? -> output: T | mode: string = 'constant' | T: "
     "@numeric"},
    {13,
     "data: T, pads: int64, constant_value: T? -> output: T | mode: string = 'constant' | T: "
     "@all13"},
    {18,
     "data: T, pads: int64, constant_value: T?, axes: Tind? -> output: T | mode: string = "
     "'constant' | T: @all13, Tind: int32 int64"},
    {19,
     "data: T, pads: int64, constant_value: T?, axes: Tind? -> output: T | mode: string = "
     "'constant' | T: @all13, Tind: int32 int64"},
    {21,
     "data: T, pads: int64, constant_value: T?, axes: Tind? -> output: T | mode: string = "
     "'constant' | T: @all21, Tind: int32 int64"},
    {23,
     "data: T, pads: int64, constant_value: T?, axes: Tind? -> output: T | mode: string = "
     "'constant' | T: @all23, Tind: int32 int64"},
    {24,
     "data: T, pads: int64, constant_value: T?, axes: Tind? -> output: T | mode: string = "
     "'constant' | T: @all24, Tind: int32 int64"},
    {25,
     "data: T, pads: int64, constant_value: T?, axes: Tind? -> output: T | mode: string = "
     "'constant' | T: @all25, Tind: int32 int64"},
};

enum class Mode { kConstant, kReflect, kEdge, kWrap };

std::optional<Mode> mode_of(const Node& node) {
  const std::string mode = node.attributes.get_string("mode", "constant");
  if (mode == "constant") return Mode::kConstant;
  if (mode == "reflect") return Mode::kReflect;
  if (mode == "edge") return Mode::kEdge;
  if (mode == "wrap" && node.version >= 19) return Mode::kWrap;
  return std::nullopt;
}

// Larger pads, of which a pair may cancel out, would overflow positions.
constexpr int64_t kMaxPad = int64_t{1} << 48;

const char* pads_name(const Node& node) { return node.version < 2 ? "paddings" : "pads"; }

void infer(InferContext& context) {
  const DataType element = context.input_element(0);
  const Node& node = context.node();
  const std::optional<Mode> mode = mode_of(node);
  if (!mode) {
    context.fail(
        fmt::format("attribute 'mode' is '{}'", node.attributes.get_string("mode", "constant")));
  }
  if (const auto value = to_shape(context.input_shape(2)); value && element_count(*value) != 1) {
    context.fail("constant_value must be a scalar");
  }
  const SymShape& input = context.input_shape(0);
  if (!input) return context.set_output(0, element, std::nullopt);
  const size_t rank = input->size();
  std::optional<Dims> pads = context.input_ints(1);
  if (node.version < 11) {
    pads = Dims();
    for (int64_t pad : node.attributes.get_ints(pads_name(node))) pads->push_back(Dim(pad));
  }
  const AxesArgument axes = axes_argument(context, "", 3);
  if (!pads || !axes.known) return context.set_output(0, element, Dims(rank, Dim::unknown()));
  if (axes.given) normalize_axes(context, axes.values, rank);
  const size_t count = axes.given ? axes.values.size() : rank;
  if (pads->size() != 2 * count) {
    context.fail(fmt::format("{} pads for {} axes", pads->size(), count));
  }
  for (const Dim& pad : *pads) {
    if (pad.is_known() && (pad.value > kMaxPad || pad.value < -kMaxPad)) {
      context.fail(fmt::format("a pad is {}", pad.value));
    }
  }
  Dims output = *input;
  DimTable& dims = context.dims();
  for (size_t i = 0; i < count; ++i) {
    const auto axis =
        axes.given ? static_cast<size_t>(context.normalize_axis(axes.values[i], rank)) : i;
    const Dim size = (*input)[axis];
    output[axis] = dims.add(dims.add(size, (*pads)[i]), (*pads)[count + i]);
    if (!output[axis].is_known()) continue;
    if (output[axis].value < 0) {
      context.fail(fmt::format("the pads leave {} elements of axis {}", output[axis].value, axis));
    }
    if (*mode != Mode::kConstant && size.is(0) && output[axis].value > 0) {
      context.fail(fmt::format("axis {} is empty: there is nothing to repeat", axis));
    }
  }
  context.set_output(0, element, std::move(output));
}

// Where position `at` of an axis continued without end lies in it; -1: nowhere.
int64_t source_of(Mode mode, int64_t at, int64_t size) {
  if (at >= 0 && at < size) return at;
  const auto rest = [at](int64_t period) { return (at % period + period) % period; };
  switch (mode) {
    case Mode::kEdge:
      return std::clamp<int64_t>(at, 0, size - 1);
    case Mode::kWrap:
      return rest(size);
    case Mode::kReflect: {
      if (size == 1) return 0;
      const int64_t bounced = rest(2 * (size - 1));
      return bounced < size ? bounced : 2 * (size - 1) - bounced;
    }
    default:
      return -1;
  }
}

// A padded axis: position i of the output shows position i - begin of the input.
struct PadAxis {
  int64_t in = 1, out = 1, begin = 0, stride = 1;
};

// The output as rows along the last padded axis; an element of a row is a block of `inner`
// elements, what lies behind that axis. Sources are found while running: a table of them would be
// as long as an axis of the output, which may be longer than the output has bytes.
struct PadPlan {
  Mode mode = Mode::kConstant;
  SmallVector<PadAxis, 6> outer;  // the axes before
  PadAxis row;
  int64_t rows = 1;
  int64_t inner = 1;
  int64_t same_begin = 0, same_end = 1;  // the part of a row that is a plain copy
};

// Offset of what the row shows first, were it not padded; -1: constants.
int64_t row_base(const PadPlan& plan, int64_t row) {
  int64_t base = 0;
  for (size_t i = plan.outer.size(); i-- > 0;) {
    const PadAxis& axis = plan.outer[i];
    const int64_t from = source_of(plan.mode, row % axis.out - axis.begin, axis.in);
    if (from < 0) return -1;
    base += from * axis.stride;
    row /= axis.out;
  }
  return base;
}

template <typename T>
void pad_rows(const PadPlan& plan, const T* in, const T& value, T* out, Range part) {
  const int64_t inner = plan.inner;
  const PadAxis& row = plan.row;
  for (int64_t r = part.begin; r < part.end; ++r) {
    T* to = out + r * row.out * inner;
    const int64_t base = row_base(plan, r);
    if (base < 0) {
      std::fill_n(to, row.out * inner, value);
      continue;
    }
    const auto fill = [&](int64_t begin, int64_t end) {
      if (plan.mode == Mode::kConstant) {
        std::fill_n(to + begin * inner, (end - begin) * inner, value);
        return;
      }
      for (int64_t i = begin; i < end; ++i) {
        const int64_t from = source_of(plan.mode, i - row.begin, row.in);
        std::copy_n(in + base + from * inner, inner, to + i * inner);
      }
    };
    fill(0, plan.same_begin);
    if (plan.same_begin < plan.same_end) {
      std::copy_n(in + base + (plan.same_begin - row.begin) * inner,
                  (plan.same_end - plan.same_begin) * inner, to + plan.same_begin * inner);
    }
    fill(plan.same_end, row.out);
  }
}

class PadKernel final : public Kernel {
 public:
  explicit PadKernel(const Node& node)
      : mode_(mode_of(node).value_or(Mode::kConstant)),
        value_(node.attributes.get_float("value", 0.0f)) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& input = context.input_shape(0);
    const Shape& output = context.output_shape(0);
    const SmallVector<int64_t, 6> begins = begins_of(context);
    auto state = std::make_shared<PadPlan>();
    state->mode = mode_;
    size_t last = 0;
    for (size_t i = 0; i < input.size(); ++i) {
      if (begins[i] != 0 || input[i] != output[i]) last = i;
    }
    const SmallVector<int64_t, 6> strides = row_major_strides(input);
    for (size_t i = 0; i <= last && i < input.size(); ++i) {
      const PadAxis axis = {input[i], output[i], begins[i], strides[i]};
      if (i < last) {
        state->outer.push_back(axis);
      } else {
        state->row = axis;
        state->same_begin = std::clamp<int64_t>(begins[i], 0, output[i]);
        state->same_end = std::clamp<int64_t>(begins[i] + input[i], state->same_begin, output[i]);
      }
    }
    state->rows = element_count(output, 0, std::min(last, output.size()));
    state->inner = output.empty() ? 1 : element_count(output, last + 1, output.size());
    const DataType type = context.input_type(0);
    if (is_sub_byte(type)) {
      plan.scratch_bytes = element_count(input) + element_count(output);
    } else {
      const auto row = static_cast<double>(state->inner) * static_cast<double>(state->row.out);
      plan.split(state->rows, 5.0 + copy_nanoseconds(type) / static_cast<double>(kCopyUnit) * row);
    }
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& plan = context.state_as<PadPlan>();
    const TensorView& in = context.input(0);
    const TensorView& out = context.output(0);
    if (out.size() == 0) return Status::ok();
    if (is_sub_byte(in.type)) {
      const int bits = bits_of(in.type);
      auto* before = reinterpret_cast<uint8_t*>(context.scratch);
      uint8_t* after = before + in.size();
      const uint8_t value = context.has_input(2) ? load_code(context.in<uint8_t>(2), 0, bits) : 0;
      unpack_codes(in.as<uint8_t>(), 0, in.size(), bits, before);
      pad_rows<uint8_t>(plan, before, value, after, {0, plan.rows});
      pack_codes(after, 0, out.size(), bits, out.as<uint8_t>());
      return Status::ok();
    }
    const Range part = context.part(plan.rows);
    visit_width(in.type, [&]<typename T>(TypeTag<T>) {
      pad_rows<T>(plan, in.as<T>(), constant<T>(context, in.type), out.as<T>(), part);
    });
    return Status::ok();
  }

 private:
  static Axes values_of(const TensorView& view) {
    return integer_values(Tensor::view(view.type, view.shape, view.data));
  }

  static SmallVector<int64_t, 6> begins_of(const ResolveContext& context) {
    const size_t rank = context.input_shape(0).size();
    Axes pads;
    if (context.node().version < 11) {
      for (int64_t pad : context.node().attributes.get_ints(pads_name(context.node()))) {
        pads.push_back(pad);
      }
    } else {
      pads = values_of(context.input_values(1));
    }
    Axes axes;
    if (context.has_input(3)) {
      axes = values_of(context.input_values(3));
    } else {
      for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
    }
    SmallVector<int64_t, 6> begins(rank, 0);
    for (size_t i = 0; i < axes.size(); ++i) {
      const int64_t axis = axes[i] < 0 ? axes[i] + static_cast<int64_t>(rank) : axes[i];
      begins[static_cast<size_t>(axis)] = pads[i];
    }
    return begins;
  }

  // The bits of the constant. Zero of every type is zero bits; a string is empty.
  template <typename T>
  T constant(const RunContext& context, DataType type) const {
    if (context.has_input(2)) return context.in<T>(2)[0];
    T result{};
    if (value_ == 0.0f) return result;
    visit_floats(type, [&]<typename F>(TypeTag<F>) {
      if constexpr (sizeof(F) == sizeof(T) && std::is_trivially_copyable_v<T>) {
        result = std::bit_cast<T>(from_compute<F>(static_cast<Compute<F>>(value_)));
      }
    });
    return result;
  }

  Mode mode_;
  float value_;  // before version 11
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<PadKernel>(context.node);
}

}  // namespace

extern const OpDef kPad = {
    .domain = "",
    .name = "Pad",
    .versions = kVersions,
    .value_inputs = 0b1010,
    .infer = infer,
    .prepare = prepare,
};

}  // namespace sardonyx
