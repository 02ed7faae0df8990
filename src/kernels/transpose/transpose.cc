#include "kernels/transpose/transpose.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/transpose/transpose.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernels/dispatch.h"
#include "kernels/hwy_compat-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {

struct Wide {
  uint64_t low, high;
};

// out[j * out_stride + i] = in[i * in_stride + j] for i < width, j < height.
template <typename T>
HWY_INLINE void transpose_plain(const T* in, int64_t in_stride, T* out, int64_t out_stride,
                                int64_t width, int64_t height) {
  // Blocks of columns: the lines of the input stay in L1 until every row of them is used.
  constexpr int64_t kBlock = 32;
  for (int64_t i0 = 0; i0 < width; i0 += kBlock) {
    const int64_t end = std::min(width, i0 + kBlock);
    for (int64_t j = 0; j < height; ++j) {
      for (int64_t i = i0; i < end; ++i) out[j * out_stride + i] = in[i * in_stride + j];
    }
  }
}

#if HWY_TARGET != HWY_SCALAR
// Four adjacent elements of row i, and of row i + 4 where the vector has two blocks.
template <class D>
HWY_INLINE hn::Vec<D> load_rows(D d, const uint32_t* in, int64_t in_stride) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    (void)in_stride;
    return hn::LoadU(d, in);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, hn::LoadU(half, in + 4 * in_stride), hn::LoadU(half, in));
  }
}

// A tile of Lanes(d) columns of the output and four rows: 4x4 transposes inside 128-bit blocks.
template <class D>
HWY_INLINE void transpose_tile(D d, const uint32_t* in, int64_t in_stride, uint32_t* out,
                               int64_t out_stride) {
  const hn::Repartition<uint64_t, D> d64;
  const auto a0 = load_rows(d, in, in_stride);
  const auto a1 = load_rows(d, in + in_stride, in_stride);
  const auto a2 = load_rows(d, in + 2 * in_stride, in_stride);
  const auto a3 = load_rows(d, in + 3 * in_stride, in_stride);
  const auto b0 = hn::BitCast(d64, hn::InterleaveLower(d, a0, a1));
  const auto b1 = hn::BitCast(d64, hn::InterleaveLower(d, a2, a3));
  const auto b2 = hn::BitCast(d64, hn::InterleaveUpper(d, a0, a1));
  const auto b3 = hn::BitCast(d64, hn::InterleaveUpper(d, a2, a3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, b0, b1)), d, out);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, b0, b1)), d, out + out_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, b2, b3)), d, out + 2 * out_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, b2, b3)), d, out + 3 * out_stride);
}
#endif

HWY_INLINE void transpose_words(const uint32_t* in, int64_t in_stride, uint32_t* out,
                                int64_t out_stride, int64_t width, int64_t height) {
#if HWY_TARGET == HWY_SCALAR
  transpose_plain(in, in_stride, out, out_stride, width, height);
#else
  const hn::CappedTag<uint32_t, 8> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t tiled_width = width / lanes * lanes, tiled_height = height / 4 * 4;
  for (int64_t i = 0; i < tiled_width; i += lanes) {
    for (int64_t j = 0; j < tiled_height; j += 4) {
      transpose_tile(d, in + i * in_stride + j, in_stride, out + j * out_stride + i, out_stride);
    }
  }
  transpose_plain(in + tiled_height, in_stride, out + tiled_height * out_stride, out_stride,
                  tiled_width, height - tiled_height);
  transpose_plain(in + tiled_width * in_stride, in_stride, out + tiled_width, out_stride,
                  width - tiled_width, height);
#endif
}

template <typename T>
HWY_INLINE void transpose_matrix(const T* in, int64_t in_stride, T* out, int64_t out_stride,
                                 int64_t width, int64_t height) {
  if constexpr (sizeof(T) == 4) {
    transpose_words(in, in_stride, out, out_stride, width, height);
  } else {
    transpose_plain(in, in_stride, out, out_stride, width, height);
  }
}

// Offsets of one outer position, in elements.
struct Position {
  int64_t in = 0, out = 0;
};
HWY_INLINE Position locate(const TransposePlan& plan, int64_t index) {
  Position p;
  for (int axis = plan.outer_rank; axis-- > 0;) {
    const int64_t at = index % plan.outer_dims[axis];
    index /= plan.outer_dims[axis];
    p.in += at * plan.outer_in_strides[axis];
    p.out += at * plan.outer_out_strides[axis];
  }
  return p;
}

template <typename T>
void run_tiles(const TransposePlan& plan, const T* in, T* out, int64_t begin, int64_t end) {
  const int64_t per_matrix = (plan.height + kTransposeUnit - 1) / kTransposeUnit;
  while (begin < end) {
    const int64_t first = begin % per_matrix;
    const int64_t last = std::min(per_matrix, first + end - begin);
    const Position p = locate(plan, begin / per_matrix);
    for (int64_t unit = first; unit < last; ++unit) {
      const int64_t row = unit * kTransposeUnit;
      transpose_matrix(in + p.in + row, plan.in_stride, out + p.out + row * plan.out_stride,
                       plan.out_stride, plan.width, std::min(kTransposeUnit, plan.height - row));
    }
    begin += last - first;
  }
}

// Rows of at most 64 bytes are copied element by element: memcpy of a variable size costs more.
template <typename T>
HWY_INLINE void copy_row(const T* in, T* out, int64_t width) {
  if (width * static_cast<int64_t>(sizeof(T)) <= 64) {
    for (int64_t i = 0; i < width; ++i) out[i] = in[i];
  } else {
    std::memcpy(out, in, static_cast<size_t>(width) * sizeof(T));
  }
}

template <typename T>
void run_rows(const TransposePlan& plan, const T* in, T* out, int64_t begin, int64_t end) {
  const int last = plan.outer_rank - 1;
  if (last < 0) {
    if (begin < end) copy_row(in, out, plan.width);
    return;
  }
  const int64_t dim = plan.outer_dims[last];
  while (begin < end) {
    // A run along the last outer axis at once.
    const int64_t at = begin % dim;
    const int64_t count = std::min(dim - at, end - begin);
    const Position p = locate(plan, begin);
    for (int64_t i = 0; i < count; ++i) {
      copy_row(in + p.in + i * plan.outer_in_strides[last],
               out + p.out + i * plan.outer_out_strides[last], plan.width);
    }
    begin += count;
  }
}

template <typename T>
void run_typed(const TransposePlan& plan, const void* in, void* out, int64_t begin, int64_t end) {
  const auto run = plan.mode == TransposeMode::kRows ? run_rows<T> : run_tiles<T>;
  run(plan, static_cast<const T*>(in), static_cast<T*>(out), begin, end);
}

void run(const TransposePlan& plan, const void* in, void* out, int64_t begin, int64_t end) {
  switch (plan.element_size) {
    case 1:
      return run_typed<uint8_t>(plan, in, out, begin, end);
    case 2:
      return run_typed<uint16_t>(plan, in, out, begin, end);
    case 4:
      return run_typed<uint32_t>(plan, in, out, begin, end);
    case 8:
      return run_typed<uint64_t>(plan, in, out, begin, end);
    default:
      return run_typed<Wide>(plan, in, out, begin, end);
  }
}

const TransposeKernels& transpose_row() {
  static const TransposeKernels table{run};
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
SDX_KERNEL_TABLE(TransposeKernels, transpose_kernels, transpose_row)
}  // namespace sardonyx::kernels
#endif
