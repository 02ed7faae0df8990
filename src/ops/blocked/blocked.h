// What the operators on blocked data (kernels/blocked/layout.h) share. A blocked value is an
// ordinary float tensor of rank 5, [N, ceil(C / c), H, W, c]; the logical channel count C, where it
// matters, is the attribute `channels`, the width c the attribute `block`. These operators are made
// by the lowering of the CPU provider only and never appear in a saved model.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/blocked/layout.h"
#include "kernels/window.h"
#include "ops/conv/window.h"
#include "ops/infer.h"
#include "ops/kernel.h"

namespace sardonyx {

// The attributes `block` (4, 8 or 16) and `channels` (1 to 2^31 - 1). Throw Error(kInvalidGraph).
int parse_block(const Node& node);
int64_t parse_channels(const Node& node);

struct BlockedDims {
  int64_t batch = 1;
  int64_t blocks = 0;
  int64_t height = 1, width = 1;
  int block = 8;

  int64_t planes() const { return batch * blocks; }
  int64_t pixels() const { return height * width; }
};

// Of a shape of rank 5.
BlockedDims blocked_dims(const Shape& shape);

// [N, ceil(channels / block), H, W, block].
Dims blocked_shape(DimTable& dims, Dim batch, Dim channels, Dim height, Dim width, int block);

// Fails when input i is known not to be blocked: rank 5 and a width of 4, 8 or 16. Where they are
// given, the width must be `block` and the blocks those of `channels`.
void check_blocked(const InferContext& context, size_t i, int64_t channels = 0, int block = 0);

// The geometry of two spatial axes.
kernels::Window2d window_2d(const WindowAxes& axes);

// How work on planes x rows is split: whole planes as long as there are enough of them, else ranges
// of rows of each plane.
class PlaneGrid {
 public:
  PlaneGrid() = default;
  // nanoseconds: estimated for everything, on one thread.
  PlaneGrid(int64_t planes, int64_t rows, double nanoseconds);

  int chunks() const { return static_cast<int>(plane_ranges_ * row_ranges_); }
  kernels::PlaneRange range(int chunk) const {
    const int64_t p = chunk / row_ranges_, r = chunk % row_ranges_;
    return {planes_ * p / plane_ranges_, planes_ * (p + 1) / plane_ranges_, rows_ * r / row_ranges_,
            rows_ * (r + 1) / row_ranges_};
  }

 private:
  int64_t planes_ = 0, rows_ = 0;
  int64_t plane_ranges_ = 1, row_ranges_ = 1;
};

// Chunks worth having for work of that length.
int64_t blocked_chunks(double nanoseconds);

}  // namespace sardonyx
