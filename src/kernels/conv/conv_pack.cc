#include <algorithm>

#include "kernels/blocked/layout.h"
#include "kernels/conv/conv.h"

namespace sardonyx::kernels {

bool conv_supported(const ConvShape& shape, const ConvTile& tile) {
  if (!is_block_width(tile.block) || tile.panel_blocks < 1 || tile.panel_blocks > kMaxPanelBlocks) {
    return false;
  }
  if (shape.window.kernel_h * shape.window.kernel_w > kMaxConvTaps) return false;
  if (shape.groups == 1) return true;
  return !tile.plain_input && shape.in_channels / shape.groups % tile.block == 0 &&
         shape.out_channels / shape.groups % tile.block == 0;
}

int64_t conv_panels(const ConvShape& shape, const ConvTile& tile) {
  const int64_t blocks = block_count(shape.out_channels / shape.groups, tile.block);
  return shape.groups * ((blocks + tile.panel_blocks - 1) / tile.panel_blocks);
}

int64_t packed_conv_weights_size(const ConvShape& shape, const ConvTile& tile) {
  const Window2d& w = shape.window;
  return block_count(shape.out_channels, tile.block) * tile.block *
         (shape.in_channels / shape.groups) * w.kernel_h * w.kernel_w;
}

int64_t packed_conv_bias_size(const ConvShape& shape, const ConvTile& tile) {
  return block_count(shape.out_channels, tile.block) * tile.block;
}

void pack_conv_weights(const ConvShape& shape, const ConvTile& tile, const float* oihw,
                       float* packed) {
  const int64_t group_in = shape.in_channels / shape.groups;
  const int64_t group_out = shape.out_channels / shape.groups;
  const int64_t taps = shape.window.kernel_h * shape.window.kernel_w;
  const int64_t step = tile.plain_input ? 1 : tile.block;
  const int64_t padded_out = block_count(group_out, tile.block) * tile.block;
  const int64_t panel_width = tile.panel_blocks * tile.block;
  for (int64_t g = 0; g < shape.groups; ++g) {
    for (int64_t first = 0; first < padded_out; first += panel_width) {
      const int64_t last = std::min(first + panel_width, padded_out);
      for (int64_t i0 = 0; i0 < group_in; i0 += step) {
        for (int64_t t = 0; t < taps; ++t) {
          for (int64_t i = i0; i < std::min(i0 + step, group_in); ++i) {
            for (int64_t o = first; o < last; ++o) {
              const int64_t source = ((g * group_out + o) * group_in + i) * taps + t;
              *packed++ = o < group_out ? oihw[source] : 0.0f;
            }
          }
        }
      }
    }
  }
}

void pack_conv_bias(const ConvShape& shape, const ConvTile& tile, const float* bias,
                    float* packed) {
  const int64_t size = packed_conv_bias_size(shape, tile);
  for (int64_t i = 0; i < size; ++i) packed[i] = i < shape.out_channels ? bias[i] : 0.0f;
}

ConvRange conv_full_range(const ConvShape& shape, const ConvTile& tile) {
  ConvRange range;
  range.batch_end = shape.batch;
  range.pixel_end = shape.window.out_h * shape.window.out_w;
  range.panel_end = conv_panels(shape, tile);
  return range;
}

}  // namespace sardonyx::kernels
