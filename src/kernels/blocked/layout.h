// The blocked activation layout NCHWc: [n][ceil(C / c)][h][w][c], fp32, block width c of 4, 8
// or 16. Lanes past C in the last block ("pad lanes") of a stored value are zero, and every kernel
// that writes a blocked value keeps that true. The width belongs to the layout, not to the ISA:
// each row of each kernel handles each width.
#pragma once

#include <cstdint>

namespace sardonyx::kernels {

inline constexpr bool is_block_width(int64_t c) { return c == 4 || c == 8 || c == 16; }

inline constexpr int64_t block_count(int64_t channels, int64_t c) { return (channels + c - 1) / c; }

// Floats in the blocked form of [batch, channels, pixels].
inline constexpr int64_t blocked_size(int64_t batch, int64_t channels, int64_t pixels, int64_t c) {
  return batch * block_count(channels, c) * pixels * c;
}

// A rectangle of work on a blocked value: planes are (batch, channel block) pairs counted as
// n * block_count + block. Callers split work over threads by splitting either range.
struct PlaneRange {
  int64_t plane_begin = 0, plane_end = 0;
  int64_t row_begin = 0, row_end = 0;
};

}  // namespace sardonyx::kernels
