#include "kernels/depthwise/depthwise.h"

namespace sardonyx::kernels {

int64_t packed_depthwise_weights_size(const DepthwiseShape& shape, int block) {
  return block_count(shape.channels, block) * block * shape.window.kernel_h * shape.window.kernel_w;
}

int64_t packed_depthwise_bias_size(const DepthwiseShape& shape, int block) {
  return block_count(shape.channels, block) * block;
}

void pack_depthwise_weights(const DepthwiseShape& shape, int block, const float* ohw,
                            float* packed) {
  const int64_t taps = shape.window.kernel_h * shape.window.kernel_w;
  const int64_t padded = block_count(shape.channels, block) * block;
  for (int64_t first = 0; first < padded; first += block) {
    for (int64_t t = 0; t < taps; ++t) {
      for (int64_t o = first; o < first + block; ++o) {
        *packed++ = o < shape.channels ? ohw[o * taps + t] : 0.0f;
      }
    }
  }
}

void pack_depthwise_bias(const DepthwiseShape& shape, int block, const float* bias, float* packed) {
  const int64_t size = packed_depthwise_bias_size(shape, block);
  for (int64_t i = 0; i < size; ++i) packed[i] = i < shape.channels ? bias[i] : 0.0f;
}

}  // namespace sardonyx::kernels
