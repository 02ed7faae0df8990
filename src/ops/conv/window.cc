#include "ops/conv/window.h"

#include <fmt/format.h>

#include <algorithm>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

AutoPad parse_auto_pad(const Node& node) {
  const std::string text = node.attributes.get_string("auto_pad", "NOTSET");
  if (text == "NOTSET" || text.empty()) return AutoPad::kNotSet;
  if (text == "SAME_UPPER") return AutoPad::kSameUpper;
  if (text == "SAME_LOWER") return AutoPad::kSameLower;
  if (text == "VALID") return AutoPad::kValid;
  throw Error(ErrorCode::kInvalidGraph,
              fmt::format("{}: auto_pad is '{}'; known are NOTSET, SAME_UPPER, SAME_LOWER, VALID",
                          describe(node), text));
}

template <size_t N>
void read_list(const Node& node, const char* name, int64_t minimum, SmallVector<int64_t, N>& list) {
  for (int64_t value : node.attributes.get_ints(name)) {
    if (value < minimum || value > INT32_MAX) {
      throw Error(ErrorCode::kInvalidGraph,
                  fmt::format("{}: {} holds {}; expected values from {} to {}", describe(node),
                              name, value, minimum, INT32_MAX));
    }
    list.push_back(value);
  }
}

}  // namespace

WindowParams parse_window(const Node& node) {
  WindowParams params;
  params.auto_pad = parse_auto_pad(node);
  params.ceil_mode = node.attributes.get_int("ceil_mode", 0) != 0;
  read_list(node, "kernel_shape", 1, params.kernel);
  read_list(node, "strides", 1, params.strides);
  read_list(node, "dilations", 1, params.dilations);
  read_list(node, "pads", 0, params.pads);
  return params;
}

void check_window(InferContext& context, const WindowParams& params, size_t spatial_rank) {
  if (spatial_rank == 0 || spatial_rank > kMaxSpatialRank) {
    context.fail(fmt::format("input has {} spatial axes; supported are 1 to {}", spatial_rank,
                             kMaxSpatialRank));
  }
  const auto check = [&](const char* name, size_t size, size_t expected) {
    if (size == 0 || size == expected) return;
    context.fail(fmt::format("attribute {} has {} values; {} spatial axes need {}", name, size,
                             spatial_rank, expected));
  };
  check("kernel_shape", params.kernel.size(), spatial_rank);
  check("strides", params.strides.size(), spatial_rank);
  check("dilations", params.dilations.size(), spatial_rank);
  check("pads", params.pads.size(), 2 * spatial_rank);
}

Dim window_output(InferContext& context, const WindowParams& params, size_t axis, Dim in,
                  Dim kernel) {
  DimTable& dims = context.dims();
  const int64_t stride = params.stride(axis);
  if (params.auto_pad == AutoPad::kSameUpper || params.auto_pad == AutoPad::kSameLower) {
    return dims.ceil_div(in, stride);
  }
  const bool padded = params.auto_pad == AutoPad::kNotSet;
  const int64_t begin = padded ? params.pad_begin(axis) : 0;
  const int64_t end = padded ? params.pad_end(axis) : 0;
  // extent - 1
  const Dim reach = dims.mul(dims.sub(kernel, 1), params.dilation(axis));
  const Dim room = dims.sub(dims.add(in, begin + end - 1), reach);
  // An empty axis has no windows that fit; that is no fault of the window.
  if (in.is(0) && room.is_known() && room.value < 0) return 0;
  const bool fits =
      !room.is_known() || room.value >= 0 || (params.may_overhang && room.value / stride >= -1);
  if (!fits) {
    context.fail(fmt::format(
        "window of extent {} does not fit spatial axis {} of size {} padded by {} and {}",
        dims.print(dims.add(reach, 1)), axis, dims.print(in), begin, end));
  }
  const Dim up = dims.ceil_div(room, stride);
  const Dim all = dims.add(up, 1);
  if (!params.ceil_mode) {
    const Dim down = dims.floor_div(room, stride);
    const bool never_larger = reach.is_known() && reach.value <= begin + end;
    if (!params.may_overhang || never_larger) return dims.add(down, 1);
    // Cut towards zero: a window larger than the padded axis counts, too, when it lacks less than
    // a stride.
    return dims.add(dims.max(down, dims.min(up, 0)), 1);
  }
  // Rounding up may give a window that starts beyond the input, in the padding at the end: it is
  // dropped. There can be none when the window reaches over that padding.
  if (reach.is_known() && reach.value + 1 >= end + stride) return all;
  const Dim starting_inside = dims.ceil_div(dims.add(in, begin), stride);
  return dims.min(all, dims.max(starting_inside, dims.sub(all, 1)));
}

WindowAxes settle_window(const WindowParams& params, std::span<const int64_t> in,
                         std::span<const int64_t> out, std::span<const int64_t> kernel) {
  WindowAxes axes;
  for (size_t i = 0; i < in.size(); ++i) {
    WindowAxis axis{in[i], out[i], kernel[i], params.stride(i), params.dilation(i), 0, 0};
    switch (params.auto_pad) {
      case AutoPad::kNotSet:
        axis.pad_begin = params.pad_begin(i);
        axis.pad_end = params.pad_end(i);
        break;
      case AutoPad::kValid:
        break;
      case AutoPad::kSameUpper:
      case AutoPad::kSameLower: {
        const int64_t total =
            std::max<int64_t>(0, (axis.out - 1) * axis.stride + axis.extent() - axis.in);
        const int64_t small = total / 2;
        axis.pad_begin = params.auto_pad == AutoPad::kSameUpper ? small : total - small;
        axis.pad_end = total - axis.pad_begin;
        break;
      }
    }
    axes.push_back(axis);
  }
  return axes;
}

}  // namespace sardonyx
