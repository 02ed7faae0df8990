// Permutation of the axes of a dense tensor of fixed-size elements. A plan is computed once from
// shape and permutation (axes that travel together are merged) and run over any part of its units,
// so that callers split one transpose over threads. Called by Transpose, layout edges, attention.
#pragma once

#include <cstdint>
#include <span>

#include "base/cpu.h"

namespace sardonyx::kernels {

inline constexpr int kMaxTransposeRank = 16;

// How the innermost loops work.
enum class TransposeMode : uint8_t {
  kRows,   // the last axis stays: rows are copied
  kTiles,  // two axes swap as a matrix, tile by tile
};

struct TransposePlan {
  TransposeMode mode = TransposeMode::kRows;
  int element_size = 0;  // 1, 2, 4, 8 or 16 bytes
  // kRows: elements of a row. kTiles: the output's innermost axis, `width` elements that lie
  // in_stride apart in the input; and the input's innermost axis, `height` elements that lie
  // out_stride apart in the output.
  int64_t width = 0, height = 0, in_stride = 0, out_stride = 0;
  // The other axes, outermost first, strides in elements.
  int outer_rank = 0;
  int64_t outer_dims[kMaxTransposeRank] = {};
  int64_t outer_in_strides[kMaxTransposeRank] = {};
  int64_t outer_out_strides[kMaxTransposeRank] = {};
  int64_t units = 0;  // independent parts of about equal size
};

// False when element_size is not supported, the rank exceeds kMaxTransposeRank or perm is no
// permutation. Output axis i is input axis perm[i].
bool make_transpose_plan(std::span<const int64_t> shape, std::span<const int64_t> perm,
                         int element_size, TransposePlan* plan);

struct TransposeKernels {
  // Units [begin, end) of the plan, 0 <= begin <= end <= plan.units. in and out do not overlap.
  void (*run)(const TransposePlan& plan, const void* in, void* out, int64_t begin, int64_t end);
};

const TransposeKernels& transpose_kernels(Isa isa = best_isa());

// Rows of the input's innermost axis in one unit of kTiles.
inline constexpr int64_t kTransposeUnit = 32;

}  // namespace sardonyx::kernels
