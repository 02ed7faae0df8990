#include "kernels/conv/conv.h"

#include <algorithm>
#include <cstring>

#include "kernels/blocked/layout.h"
#include "kernels/conv/conv_task.h"

namespace sardonyx::kernels {
namespace {

void run_conv(const ConvArgs& args, const ConvRange& range, const ConvTaskKernels& kernels) {
  const ConvShape& s = args.shape;
  const Window2d& w = s.window;
  const int64_t c = args.tile.block;
  const int64_t group_in = s.in_channels / s.groups, group_out = s.out_channels / s.groups;
  const int64_t group_panels = conv_panels(s, args.tile) / s.groups;
  const int64_t in_pixels = w.in_h * w.in_w, out_pixels = w.out_h * w.out_w;
  const bool plain = args.tile.plain_input;
  const int64_t in_lanes = plain ? 1 : c;  // floats of an input pixel in its plane

  ConvTap taps[kMaxConvTaps];
  const int64_t tap_count = w.kernel_h * w.kernel_w;
  for (int64_t t = 0; t < tap_count; ++t) {
    taps[t].dy = static_cast<int32_t>(t / w.kernel_w * w.dilation_h - w.pad_top);
    taps[t].dx = static_cast<int32_t>(t % w.kernel_w * w.dilation_w - w.pad_left);
  }

  ConvTask task = {};
  task.in_h = w.in_h;
  task.in_w = w.in_w;
  task.in_row_stride = w.in_w * in_lanes;
  task.in_pixel_stride = in_lanes;
  task.in_channels = group_in;
  task.channel_step = in_lanes;
  task.channel_stride = in_pixels * in_lanes;
  task.taps = taps;
  task.tap_count = tap_count;
  task.step_h = w.stride_h;
  task.step_w = w.stride_w;
  task.grid_w = w.out_w;
  task.pixel_begin = range.pixel_begin;
  task.pixel_end = range.pixel_end;
  task.out_row_stride = w.out_w * c;
  task.out_pixel_stride = c;
  task.out_block_stride = out_pixels * c;
  task.out_channels = group_out;
  task.panel_blocks = args.tile.panel_blocks;
  task.panel_stride = args.tile.panel_blocks * c * group_in * tap_count;
  task.epilogue = &args.epilogue;

  const int64_t in_image = (plain ? s.in_channels : block_count(s.in_channels, c) * c) * in_pixels;
  const int64_t out_image = block_count(s.out_channels, c) * c * out_pixels;
  const int64_t group_weights = packed_conv_weights_size(s, args.tile) / s.groups;
  for (int64_t n = range.batch_begin; n < range.batch_end; ++n) {
    for (int64_t g = 0; g < s.groups; ++g) {
      task.panel_begin = std::max<int64_t>(range.panel_begin - g * group_panels, 0);
      task.panel_end = std::min(range.panel_end - g * group_panels, group_panels);
      if (task.panel_begin >= task.panel_end) continue;
      const int64_t out_offset = n * out_image + g * group_out * out_pixels;
      task.input = args.input + n * in_image + g * group_in * in_pixels;
      task.weights = args.weights + g * group_weights;
      task.bias = args.bias == nullptr ? nullptr : args.bias + g * group_out;
      task.output = args.output + out_offset;
      task.residual = args.residual == nullptr ? nullptr : args.residual + out_offset;
      kernels.run(task);
    }
  }
}

template <Isa isa>
int row_panel_blocks(int block, int64_t group_out_channels) {
  return conv_task_kernels(block, isa).panel_blocks(block_count(group_out_channels, block));
}

template <Isa isa>
void row_run(const ConvArgs& args, const ConvRange& range) {
  run_conv(args, range, conv_task_kernels(args.tile.block, isa));
}

template <Isa isa>
constexpr ConvKernels kRow = {row_panel_blocks<isa>, row_run<isa>};

}  // namespace

const ConvKernels& conv_kernels(Isa isa) {
  switch (isa) {
    case Isa::kAvx512:
      return kRow<Isa::kAvx512>;
    case Isa::kAvx2:
      return kRow<Isa::kAvx2>;
    case Isa::kSse4:
      return kRow<Isa::kSse4>;
    default:
      return kRow<Isa::kBaseline>;
  }
}

}  // namespace sardonyx::kernels
