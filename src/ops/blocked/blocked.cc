#include "ops/blocked/blocked.h"

#include <fmt/format.h>

#include "sardonyx/error.h"

namespace sardonyx {

int parse_block(const Node& node) {
  const int64_t block = node.attributes.get_int("block", 8);
  if (!kernels::is_block_width(block)) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: block is {}; known are 4, 8, 16", describe(node), block));
  }
  return static_cast<int>(block);
}

int64_t parse_channels(const Node& node) {
  const int64_t channels = node.attributes.get_int("channels", 0);
  if (channels < 1 || channels > INT32_MAX) {
    throw Error(ErrorCode::kInvalidGraph, fmt::format("{}: channels is {}; expected 1 to {}",
                                                      describe(node), channels, INT32_MAX));
  }
  return channels;
}

BlockedDims blocked_dims(const Shape& shape) {
  return {shape[0], shape[1], shape[2], shape[3], static_cast<int>(shape[4])};
}

Dims blocked_shape(DimTable& dims, Dim batch, Dim channels, Dim height, Dim width, int block) {
  return {batch, dims.ceil_div(channels, int64_t{block}), height, width, int64_t{block}};
}

void check_blocked(const InferContext& context, size_t i, int64_t channels, int block) {
  const SymShape& shape = context.input_shape(i);
  if (!shape) return;
  if (shape->size() != 5) {
    context.fail(fmt::format("input {} has rank {}; blocked values have 5", i, shape->size()));
  }
  const Dim blocks = (*shape)[1], width = (*shape)[4];
  if (!width.is_known()) return;
  if (block == 0 ? !kernels::is_block_width(width.value) : width.value != block) {
    context.fail(fmt::format("input {} has blocks of {} channels; expected {}", i, width.value,
                             block == 0 ? "4, 8 or 16" : std::to_string(block)));
  }
  if (channels != 0 && blocks.is_known() &&
      blocks.value != kernels::block_count(channels, width.value)) {
    context.fail(fmt::format("input {} has {} blocks of {}; {} channels need {}", i, blocks.value,
                             width.value, channels, kernels::block_count(channels, width.value)));
  }
}

kernels::Window2d window_2d(const WindowAxes& axes) {
  const WindowAxis &h = axes[0], &w = axes[1];
  kernels::Window2d window;
  window.in_h = h.in;
  window.in_w = w.in;
  window.out_h = h.out;
  window.out_w = w.out;
  window.kernel_h = h.kernel;
  window.kernel_w = w.kernel;
  window.stride_h = h.stride;
  window.stride_w = w.stride;
  window.dilation_h = h.dilation;
  window.dilation_w = w.dilation;
  window.pad_top = h.pad_begin;
  window.pad_left = w.pad_begin;
  return window;
}

int64_t blocked_chunks(double nanoseconds) {
  // Enough for a few threads to balance; more would only cost claims.
  constexpr double kMost = 32;
  return static_cast<int64_t>(std::clamp(nanoseconds / kChunkNanoseconds, 1.0, kMost));
}

PlaneGrid::PlaneGrid(int64_t planes, int64_t rows, double nanoseconds)
    : planes_(planes), rows_(rows) {
  // A Run that is cancelled waits for the chunks that have begun.
  constexpr double kLongNanoseconds = 2e6, kMost = 32768 / 2;
  const auto wanted =
      std::max(blocked_chunks(nanoseconds),
               static_cast<int64_t>(std::min(nanoseconds / kLongNanoseconds, kMost)));
  plane_ranges_ = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(planes, 1));
  const int64_t rest = (wanted + plane_ranges_ - 1) / plane_ranges_;
  row_ranges_ = std::clamp<int64_t>(rest, 1, std::max<int64_t>(rows, 1));
}

}  // namespace sardonyx
