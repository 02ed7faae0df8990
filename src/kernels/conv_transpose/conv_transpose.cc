#include "kernels/conv_transpose/conv_transpose.h"

#include <algorithm>

#include "kernels/blocked/layout.h"
#include "kernels/conv/conv_task.h"

namespace sardonyx::kernels {
namespace {

// The taps that reach output pixels (a + i * stride_h, b + j * stride_w): output row y sees kernel
// row k when y + pad_top - k * dilation_h is a multiple of the stride, at input row of that
// quotient.
struct Phase {
  int64_t count = 0;
  ConvTap taps[kMaxConvTaps];
  int16_t kernel_index[kMaxConvTaps];

  void find(const Window2d& w, int64_t a, int64_t b) {
    count = 0;
    for (int64_t ky = 0; ky < w.kernel_h; ++ky) {
      const int64_t y = a + w.pad_top - ky * w.dilation_h;
      if (y % w.stride_h != 0) continue;
      for (int64_t kx = 0; kx < w.kernel_w; ++kx) {
        const int64_t x = b + w.pad_left - kx * w.dilation_w;
        if (x % w.stride_w != 0) continue;
        taps[count].dy = static_cast<int32_t>(y / w.stride_h);
        taps[count].dx = static_cast<int32_t>(x / w.stride_w);
        kernel_index[count++] = static_cast<int16_t>(ky * w.kernel_w + kx);
      }
    }
  }
};

int64_t divide_up(int64_t a, int64_t b) { return a <= 0 ? 0 : (a + b - 1) / b; }

void run_conv_transpose(const ConvArgs& args, const ConvTransposeRange& range,
                        const ConvTaskKernels& kernels) {
  const ConvShape& s = args.shape;
  const Window2d& w = s.window;
  const int64_t c = args.tile.block;
  const int64_t group_in = s.in_channels / s.groups, group_out = s.out_channels / s.groups;
  const int64_t group_panels = conv_panels(s, args.tile) / s.groups;
  const int64_t padded_out = block_count(group_out, c) * c;
  const int64_t in_pixels = w.in_h * w.in_w, out_pixels = w.out_h * w.out_w;
  const int64_t in_image = block_count(s.in_channels, c) * c * in_pixels;
  const int64_t out_image = block_count(s.out_channels, c) * c * out_pixels;
  const int64_t group_weights = packed_conv_transpose_weights_size(s, args.tile) / s.groups;

  Phase phase;
  ConvTask task = {};
  task.in_h = w.in_h;
  task.in_w = w.in_w;
  task.in_row_stride = w.in_w * c;
  task.in_pixel_stride = c;
  task.in_channels = group_in;
  task.channel_step = c;
  task.channel_stride = in_pixels * c;
  task.taps = phase.taps;
  task.step_h = 1;
  task.step_w = 1;
  task.out_row_stride = w.stride_h * w.out_w * c;
  task.out_pixel_stride = w.stride_w * c;
  task.out_block_stride = out_pixels * c;
  task.out_channels = group_out;
  task.panel_blocks = args.tile.panel_blocks;
  task.epilogue = &args.epilogue;

  int64_t taps_before = 0;
  for (int64_t a = 0; a < w.stride_h; ++a) {
    for (int64_t b = 0; b < w.stride_w; ++b, taps_before += phase.count) {
      phase.find(w, a, b);
      task.tap_count = phase.count;
      task.panel_stride = args.tile.panel_blocks * c * group_in * phase.count;
      task.grid_w = divide_up(w.out_w - b, w.stride_w);
      task.pixel_begin = divide_up(range.row_begin - a, w.stride_h) * task.grid_w;
      task.pixel_end = divide_up(range.row_end - a, w.stride_h) * task.grid_w;
      if (task.pixel_begin >= task.pixel_end) continue;
      for (int64_t n = range.batch_begin; n < range.batch_end; ++n) {
        for (int64_t g = 0; g < s.groups; ++g) {
          task.panel_begin = std::max<int64_t>(range.panel_begin - g * group_panels, 0);
          task.panel_end = std::min(range.panel_end - g * group_panels, group_panels);
          if (task.panel_begin >= task.panel_end) continue;
          const int64_t out_offset =
              n * out_image + g * group_out * out_pixels + (a * w.out_w + b) * c;
          task.input = args.input + n * in_image + g * group_in * in_pixels;
          task.weights = args.weights + g * group_weights + padded_out * group_in * taps_before;
          task.bias = args.bias == nullptr ? nullptr : args.bias + g * group_out;
          task.output = args.output + out_offset;
          task.residual = args.residual == nullptr ? nullptr : args.residual + out_offset;
          kernels.run(task);
        }
      }
    }
  }
}

template <Isa isa>
int row_panel_blocks(int block, int64_t group_out_channels) {
  return conv_task_kernels(block, isa).panel_blocks(block_count(group_out_channels, block));
}

template <Isa isa>
void row_run(const ConvArgs& args, const ConvTransposeRange& range) {
  run_conv_transpose(args, range, conv_task_kernels(args.tile.block, isa));
}

template <Isa isa>
constexpr ConvTransposeKernels kRow = {row_panel_blocks<isa>, row_run<isa>};

}  // namespace

bool conv_transpose_supported(const ConvShape& shape, const ConvTile& tile) {
  return !tile.plain_input && conv_supported(shape, tile);
}

int64_t packed_conv_transpose_weights_size(const ConvShape& shape, const ConvTile& tile) {
  return packed_conv_weights_size(shape, tile);
}

void pack_conv_transpose_weights(const ConvShape& shape, const ConvTile& tile, const float* iohw,
                                 float* packed) {
  const Window2d& w = shape.window;
  const int64_t group_in = shape.in_channels / shape.groups;
  const int64_t group_out = shape.out_channels / shape.groups;
  const int64_t padded_out = block_count(group_out, tile.block) * tile.block;
  const int64_t panel_width = int64_t{tile.panel_blocks} * tile.block;
  const int64_t taps = w.kernel_h * w.kernel_w;
  Phase phase;
  for (int64_t g = 0; g < shape.groups; ++g) {
    for (int64_t p = 0; p < w.stride_h * w.stride_w; ++p) {
      phase.find(w, p / w.stride_w, p % w.stride_w);
      for (int64_t first = 0; first < padded_out; first += panel_width) {
        const int64_t last = std::min(first + panel_width, padded_out);
        for (int64_t i0 = 0; i0 < group_in; i0 += tile.block) {
          for (int64_t t = 0; t < phase.count; ++t) {
            for (int64_t i = i0; i < std::min(i0 + tile.block, group_in); ++i) {
              const float* row = iohw + (g * group_in + i) * group_out * taps;
              for (int64_t o = first; o < last; ++o) {
                *packed++ = o < group_out ? row[o * taps + phase.kernel_index[t]] : 0.0f;
              }
            }
          }
        }
      }
    }
  }
}

ConvTransposeRange conv_transpose_full_range(const ConvShape& shape, const ConvTile& tile) {
  ConvTransposeRange range;
  range.batch_end = shape.batch;
  range.row_end = shape.window.out_h;
  range.panel_end = conv_panels(shape, tile);
  return range;
}

const ConvTransposeKernels& conv_transpose_kernels(Isa isa) {
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
