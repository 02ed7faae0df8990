// Copies without arithmetic: rows picked by index, and strided copies of any rank, the building
// block of Slice, Concat, Expand, Split, Tile and Pad. Bound by memory, so there is one portable
// form. Indices come from models and users: they are checked here, everything else by the caller.
#pragma once

#include <cstdint>

namespace sardonyx::kernels {

inline constexpr int kMaxCopyRank = 16;

// out row i = in row indices[i], for `count` rows of row_bytes; a negative index counts from
// `rows`. Strides are the bytes between rows. Returns -1, or the position of the first index
// outside
// [-rows, rows), where copying stopped.
int64_t gather_rows(const void* in, int64_t rows, int64_t row_bytes, int64_t in_stride_bytes,
                    const int64_t* indices, int64_t count, void* out, int64_t out_stride_bytes);
int64_t gather_rows(const void* in, int64_t rows, int64_t row_bytes, int64_t in_stride_bytes,
                    const int32_t* indices, int64_t count, void* out, int64_t out_stride_bytes);

// out row indices[i] = in row i: the inverse, later rows win. Returns as gather_rows does.
int64_t scatter_rows(const void* in, int64_t row_bytes, int64_t in_stride_bytes,
                     const int64_t* indices, int64_t count, void* out, int64_t rows,
                     int64_t out_stride_bytes);

// Copies shape[0] x ... x shape[rank - 1] elements of element_size bytes; strides count elements
// and may be negative (reversed slices) or, for the source, zero (broadcast). rank <= kMaxCopyRank;
// in and out do not overlap. Any element size; 1, 2, 4, 8 and 16 bytes are fast when elements are
// not adjacent.
void copy_nd(int64_t element_size, int rank, const int64_t* shape, const int64_t* in_strides,
             const int64_t* out_strides, const void* in, void* out);

}  // namespace sardonyx::kernels
